# Source this file: it tells programs and their builds where the library is.
ASCEND_HOME_PATH="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)"
export ASCEND_HOME_PATH
export ASCEND_INSTALL_PATH="$ASCEND_HOME_PATH"
export LD_LIBRARY_PATH="$ASCEND_HOME_PATH/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
