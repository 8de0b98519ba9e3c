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

/* The process as its host sees it. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t* pid);

/* Streams and events. Time limits in milliseconds, -1: for ever; time stamps in microseconds. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);
ACL_FUNC_VISIBILITY aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
    uint32_t value);

/* Marks that one stream sets and another waits for and takes away: `record` has one wait, submitted
   before or after, go on. Time limits of waits in seconds, 0: for ever. */
#define ACL_NOTIFY_DEFAULT 0x00000000U
#define ACL_NOTIFY_DEVICE_USE_ONLY 0x00000001U
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag);
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
    uint32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId);
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num);

/* Kernels: a binary is a shared object whose exported functions follow troupe_kernel.h. */
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromFile(const char* path,
    aclrtBinaryLoadOptions* options, aclrtBinHandle* binary);
ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void* data, size_t length,
    const aclrtBinaryLoadOptions* options, aclrtBinHandle* binary);
ACL_FUNC_VISIBILITY aclError aclrtBinaryUnLoad(aclrtBinHandle binary);
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(aclrtBinHandle binary, const char* name,
    aclrtFuncHandle* function);
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function,
    uint32_t blockCount, aclrtStream stream, aclrtLaunchKernelCfg* config, void* hostArgs,
    size_t argsSize, void* placeHolders, size_t placeHolderCount);

/* The same with a copy of raw arguments, or with arguments that are put together one by one: each
   lies at a multiple of its size if that is 1, 2, 4 or 8, else of 8, as the members of a structure
   do. They can be used again, and updated, after a launch, which takes a copy. `reserve` is null. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blockCount,
    const void* argsData, size_t argsSize, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsInit(aclrtFuncHandle function,
    aclrtArgsHandle* arguments);
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsAppend(aclrtArgsHandle arguments, void* param,
    size_t paramSize, aclrtParamHandle* paramHandle);
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle arguments,
    aclrtParamHandle paramHandle, void* param, size_t paramSize);
ACL_FUNC_VISIBILITY aclError aclrtKernelArgsFinalize(aclrtArgsHandle arguments);
ACL_FUNC_VISIBILITY aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function,
    uint32_t blockCount, aclrtStream stream, aclrtLaunchKernelCfg* config,
    aclrtArgsHandle arguments, void* reserve);

/* 4096 bytes of the current context's memory where blocks of its kernels may meet. */
ACL_FUNC_VISIBILITY aclError aclrtGetHardwareSyncAddr(void** addr);

/* Host memory of the program, made known to the devices: its address there is its own. */
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
    void** devPtr);
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void* ptr);
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);

/* Mapped memory: what sizes must be multiples of; another handle of what is mapped somewhere. */
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
    aclrtMemGranularityOptions option, size_t* granularity);
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size,
    size_t alignment, void* expectPtr, uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtMemRetainAllocationHandle(void* virPtr,
    aclrtDrvMemHandle* handle);

/* Who may use a range of addresses: contexts of the device that is named. */
typedef enum aclrtMemAccessFlags {
  ACL_RT_MEM_ACCESS_FLAGS_NONE = 0,
  ACL_RT_MEM_ACCESS_FLAGS_READ = 1,
  ACL_RT_MEM_ACCESS_FLAGS_READWRITE = 3
} aclrtMemAccessFlags;

typedef struct aclrtMemAccessDesc {
  aclrtMemAccessFlags flags;
  aclrtMemLocation location;
  uint8_t rsv[12];
} aclrtMemAccessDesc;

ACL_FUNC_VISIBILITY aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc,
    size_t count);

/* Memory of other processes, which answer that there is no such thing. */
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key,
    size_t keyBytes, uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pids, size_t count);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char* key);
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
    aclrtMemHandleType type, uint64_t flags, uint64_t* shareableHandle);
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle,
    int32_t deviceId, aclrtDrvMemHandle* handle);
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle,
    int32_t* pids, size_t count);

typedef enum aclrtMemSharedHandleType {
  ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT = 1,
  ACL_MEM_SHARE_HANDLE_TYPE_FABRIC = 2
} aclrtMemSharedHandleType;

typedef struct aclrtMemFabricHandle {
  uint8_t data[128];
} aclrtMemFabricHandle;

ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle,
    uint64_t flags, aclrtMemSharedHandleType shareType, void* shareableHandle);
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle,
    aclrtMemSharedHandleType shareType, uint64_t flags, aclrtDrvMemHandle* handle);

/* What this is; the place for the version has room for ACL_PKG_VERSION_MAX_SIZE bytes. */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* pkgName, char* versionStr);

#ifdef __cplusplus
}
#endif

#endif /* TROUPE_ACL_RT_MORE_H */
