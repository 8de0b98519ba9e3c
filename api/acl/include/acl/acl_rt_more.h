/* Functions of newer interfaces that programs call. The kernel convention is in troupe_kernel.h. */
#ifndef TROUPE_ACL_RT_MORE_H
#define TROUPE_ACL_RT_MORE_H

#include "acl_rt_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices. User, logical and physical numbers are the same. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByUserDevId(int32_t userDevId, int32_t* logicDevId);
ACL_FUNC_VISIBILITY aclError aclrtGetPhyDevIdByLogicDevId(int32_t logicDevId, int32_t* phyDevId);
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags,
    int32_t* active);

/* Streams and events. Time limits in milliseconds, -1: for ever; time stamps in microseconds. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/* Kernels: a binary is a shared object whose exported functions follow troupe_kernel.h. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromFile(const char* path,
    aclrtBinaryLoadOptions* options, aclrtBinHandle* binary);
ACL_FUNC_VISIBILITY aclError aclrtBinaryUnLoad(aclrtBinHandle binary);
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(aclrtBinHandle binary, const char* name,
    aclrtFuncHandle* function);
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function,
    uint32_t blockCount, aclrtStream stream, aclrtLaunchKernelCfg* config, void* hostArgs,
    size_t argsSize, void* placeHolders, size_t placeHolderCount);

#ifdef __cplusplus
}
#endif

#endif /* TROUPE_ACL_RT_MORE_H */
