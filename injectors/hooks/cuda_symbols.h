/* cuda_symbols.h - what the CUDA driver exports, and since which version
 * SPDX-License-Identifier: MIT
 *
 * Written by cuda_generate.py; do not edit. S(number, symbol, since): the
 * numbers are those of the device page (hot[], call). `since` is the first CUDA
 * version (12040 is 12.4) that means the symbol by its name, which is the
 * symbol without _v2, _v3, ... and without _ptsz, _ptds (a thread's own
 * stream, flag 2 of cuGetProcAddress). Used from assembly too.
 */
#ifndef DRILL_CUDA_SYMBOLS_H
#define DRILL_CUDA_SYMBOLS_H

#define DRILL_CUDA_SYMBOLS(S) \
	S(0, cuArray3DCreate, 2000) S(1, cuArray3DCreate_v2, 3020) \
	S(2, cuArray3DGetDescriptor, 2000) \
	S(3, cuArray3DGetDescriptor_v2, 3020) S(4, cuArrayCreate, 2000) \
	S(5, cuArrayCreate_v2, 3020) S(6, cuArrayDestroy, 2000) \
	S(7, cuArrayGetDescriptor, 2000) S(8, cuArrayGetDescriptor_v2, 3020) \
	S(9, cuArrayGetMemoryRequirements, 11060) \
	S(10, cuArrayGetPlane, 11020) \
	S(11, cuArrayGetSparseProperties, 11010) \
	S(12, cuCheckpointProcessCheckpoint, 12080) \
	S(13, cuCheckpointProcessGetRestoreThreadId, 12080) \
	S(14, cuCheckpointProcessGetState, 12080) \
	S(15, cuCheckpointProcessLock, 12080) \
	S(16, cuCheckpointProcessRestore, 12080) \
	S(17, cuCheckpointProcessUnlock, 12080) \
	S(18, cuCoredumpGetAttribute, 12010) \
	S(19, cuCoredumpGetAttributeGlobal, 12010) \
	S(20, cuCoredumpSetAttribute, 12010) \
	S(21, cuCoredumpSetAttributeGlobal, 12010) S(22, cuCtxAttach, 2000) \
	S(23, cuCtxCreate, 2000) S(24, cuCtxCreate_v2, 3020) \
	S(25, cuCtxCreate_v3, 11040) S(26, cuCtxCreate_v4, 12050) \
	S(27, cuCtxDestroy, 2000) S(28, cuCtxDestroy_v2, 4000) \
	S(29, cuCtxDetach, 2000) S(30, cuCtxDisablePeerAccess, 4000) \
	S(31, cuCtxEnablePeerAccess, 4000) S(32, cuCtxFromGreenCtx, 12040) \
	S(33, cuCtxGetApiVersion, 3020) S(34, cuCtxGetCacheConfig, 3020) \
	S(35, cuCtxGetCurrent, 4000) S(36, cuCtxGetDevResource, 12040) \
	S(37, cuCtxGetDevice, 2000) S(38, cuCtxGetDevice_v2, 13000) \
	S(39, cuCtxGetExecAffinity, 11040) S(40, cuCtxGetFlags, 7000) \
	S(41, cuCtxGetId, 12000) S(42, cuCtxGetLimit, 3010) \
	S(43, cuCtxGetSharedMemConfig, 4020) \
	S(44, cuCtxGetStreamPriorityRange, 5050) S(45, cuCtxPopCurrent, 2000) \
	S(46, cuCtxPopCurrent_v2, 4000) S(47, cuCtxPushCurrent, 2000) \
	S(48, cuCtxPushCurrent_v2, 4000) S(49, cuCtxRecordEvent, 12050) \
	S(50, cuCtxResetPersistingL2Cache, 11000) \
	S(51, cuCtxSetCacheConfig, 3020) S(52, cuCtxSetCurrent, 4000) \
	S(53, cuCtxSetFlags, 12010) S(54, cuCtxSetLimit, 3010) \
	S(55, cuCtxSetSharedMemConfig, 4020) S(56, cuCtxSynchronize, 2000) \
	S(57, cuCtxSynchronize_v2, 13000) S(58, cuCtxWaitEvent, 12050) \
	S(59, cuDestroyExternalMemory, 10000) \
	S(60, cuDestroyExternalSemaphore, 10000) \
	S(61, cuDevResourceGenerateDesc, 12040) \
	S(62, cuDevSmResourceSplitByCount, 12040) \
	S(63, cuDeviceCanAccessPeer, 4000) \
	S(64, cuDeviceComputeCapability, 2000) S(65, cuDeviceGet, 2000) \
	S(66, cuDeviceGetAttribute, 2000) S(67, cuDeviceGetByPCIBusId, 4010) \
	S(68, cuDeviceGetCount, 2000) S(69, cuDeviceGetDefaultMemPool, 11020) \
	S(70, cuDeviceGetDevResource, 12040) \
	S(71, cuDeviceGetExecAffinitySupport, 11040) \
	S(72, cuDeviceGetGraphMemAttribute, 11040) \
	S(73, cuDeviceGetHostAtomicCapabilities, 13000) \
	S(74, cuDeviceGetLuid, 10000) S(75, cuDeviceGetMemPool, 11020) \
	S(76, cuDeviceGetName, 2000) \
	S(77, cuDeviceGetNvSciSyncAttributes, 10020) \
	S(78, cuDeviceGetP2PAtomicCapabilities, 13000) \
	S(79, cuDeviceGetP2PAttribute, 8000) S(80, cuDeviceGetPCIBusId, 4010) \
	S(81, cuDeviceGetProperties, 2000) \
	S(82, cuDeviceGetTexture1DLinearMaxWidth, 11010) \
	S(83, cuDeviceGetUuid, 9020) S(84, cuDeviceGetUuid_v2, 11040) \
	S(85, cuDeviceGraphMemTrim, 11040) \
	S(86, cuDevicePrimaryCtxGetState, 7000) \
	S(87, cuDevicePrimaryCtxRelease, 7000) \
	S(88, cuDevicePrimaryCtxRelease_v2, 11000) \
	S(89, cuDevicePrimaryCtxReset, 7000) \
	S(90, cuDevicePrimaryCtxReset_v2, 11000) \
	S(91, cuDevicePrimaryCtxRetain, 7000) \
	S(92, cuDevicePrimaryCtxSetFlags, 7000) \
	S(93, cuDevicePrimaryCtxSetFlags_v2, 11000) \
	S(94, cuDeviceRegisterAsyncNotification, 12040) \
	S(95, cuDeviceSetGraphMemAttribute, 11040) \
	S(96, cuDeviceSetMemPool, 11020) S(97, cuDeviceTotalMem, 2000) \
	S(98, cuDeviceTotalMem_v2, 3020) \
	S(99, cuDeviceUnregisterAsyncNotification, 12040) \
	S(100, cuDriverGetVersion, 2020) S(101, cuEventCreate, 2000) \
	S(102, cuEventDestroy, 2000) S(103, cuEventDestroy_v2, 4000) \
	S(104, cuEventElapsedTime, 2000) S(105, cuEventElapsedTime_v2, 12080) \
	S(106, cuEventQuery, 2000) S(107, cuEventRecord, 2000) \
	S(108, cuEventRecordWithFlags, 11010) \
	S(109, cuEventRecordWithFlags_ptsz, 11010) \
	S(110, cuEventRecord_ptsz, 7000) S(111, cuEventSynchronize, 2000) \
	S(112, cuExternalMemoryGetMappedBuffer, 10000) \
	S(113, cuExternalMemoryGetMappedMipmappedArray, 10000) \
	S(114, cuFlushGPUDirectRDMAWrites, 11030) \
	S(115, cuFuncGetAttribute, 2020) S(116, cuFuncGetModule, 11000) \
	S(117, cuFuncGetName, 12030) S(118, cuFuncGetParamInfo, 12040) \
	S(119, cuFuncIsLoaded, 12040) S(120, cuFuncLoad, 12040) \
	S(121, cuFuncSetAttribute, 9000) S(122, cuFuncSetBlockShape, 2000) \
	S(123, cuFuncSetCacheConfig, 3000) \
	S(124, cuFuncSetSharedMemConfig, 4020) \
	S(125, cuFuncSetSharedSize, 2000) S(126, cuGetErrorName, 6000) \
	S(127, cuGetErrorString, 6000) S(128, cuGetExportTable, 3000) \
	S(129, cuGetProcAddress, 11030) S(130, cuGetProcAddress_v2, 12000) \
	S(131, cuGraphAddBatchMemOpNode, 11070) \
	S(132, cuGraphAddChildGraphNode, 10000) \
	S(133, cuGraphAddDependencies, 10000) \
	S(134, cuGraphAddDependencies_v2, 12030) \
	S(135, cuGraphAddEmptyNode, 10000) \
	S(136, cuGraphAddEventRecordNode, 11010) \
	S(137, cuGraphAddEventWaitNode, 11010) \
	S(138, cuGraphAddExternalSemaphoresSignalNode, 11020) \
	S(139, cuGraphAddExternalSemaphoresWaitNode, 11020) \
	S(140, cuGraphAddHostNode, 10000) S(141, cuGraphAddKernelNode, 10000) \
	S(142, cuGraphAddKernelNode_v2, 12000) \
	S(143, cuGraphAddMemAllocNode, 11040) \
	S(144, cuGraphAddMemFreeNode, 11040) \
	S(145, cuGraphAddMemcpyNode, 10000) \
	S(146, cuGraphAddMemsetNode, 10000) S(147, cuGraphAddNode, 12020) \
	S(148, cuGraphAddNode_v2, 12030) \
	S(149, cuGraphBatchMemOpNodeGetParams, 11070) \
	S(150, cuGraphBatchMemOpNodeSetParams, 11070) \
	S(151, cuGraphChildGraphNodeGetGraph, 10000) \
	S(152, cuGraphClone, 10000) \
	S(153, cuGraphConditionalHandleCreate, 12030) \
	S(154, cuGraphCreate, 10000) S(155, cuGraphDebugDotPrint, 11030) \
	S(156, cuGraphDestroy, 10000) S(157, cuGraphDestroyNode, 10000) \
	S(158, cuGraphEventRecordNodeGetEvent, 11010) \
	S(159, cuGraphEventRecordNodeSetEvent, 11010) \
	S(160, cuGraphEventWaitNodeGetEvent, 11010) \
	S(161, cuGraphEventWaitNodeSetEvent, 11010) \
	S(162, cuGraphExecBatchMemOpNodeSetParams, 11070) \
	S(163, cuGraphExecChildGraphNodeSetParams, 11010) \
	S(164, cuGraphExecDestroy, 10000) \
	S(165, cuGraphExecEventRecordNodeSetEvent, 11010) \
	S(166, cuGraphExecEventWaitNodeSetEvent, 11010) \
	S(167, cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020) \
	S(168, cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020) \
	S(169, cuGraphExecGetFlags, 12000) \
	S(170, cuGraphExecHostNodeSetParams, 10020) \
	S(171, cuGraphExecKernelNodeSetParams, 10010) \
	S(172, cuGraphExecKernelNodeSetParams_v2, 12000) \
	S(173, cuGraphExecMemcpyNodeSetParams, 10020) \
	S(174, cuGraphExecMemsetNodeSetParams, 10020) \
	S(175, cuGraphExecNodeSetParams, 12020) \
	S(176, cuGraphExecUpdate, 10020) S(177, cuGraphExecUpdate_v2, 12000) \
	S(178, cuGraphExternalSemaphoresSignalNodeGetParams, 11020) \
	S(179, cuGraphExternalSemaphoresSignalNodeSetParams, 11020) \
	S(180, cuGraphExternalSemaphoresWaitNodeGetParams, 11020) \
	S(181, cuGraphExternalSemaphoresWaitNodeSetParams, 11020) \
	S(182, cuGraphGetEdges, 10000) S(183, cuGraphGetEdges_v2, 12030) \
	S(184, cuGraphGetNodes, 10000) S(185, cuGraphGetRootNodes, 10000) \
	S(186, cuGraphHostNodeGetParams, 10000) \
	S(187, cuGraphHostNodeSetParams, 10000) \
	S(188, cuGraphInstantiate, 10000) \
	S(189, cuGraphInstantiateWithFlags, 11040) \
	S(190, cuGraphInstantiateWithParams, 12000) \
	S(191, cuGraphInstantiateWithParams_ptsz, 12000) \
	S(192, cuGraphInstantiate_v2, 11000) \
	S(193, cuGraphKernelNodeCopyAttributes, 11000) \
	S(194, cuGraphKernelNodeGetAttribute, 11000) \
	S(195, cuGraphKernelNodeGetParams, 10000) \
	S(196, cuGraphKernelNodeGetParams_v2, 12000) \
	S(197, cuGraphKernelNodeSetAttribute, 11000) \
	S(198, cuGraphKernelNodeSetParams, 10000) \
	S(199, cuGraphKernelNodeSetParams_v2, 12000) \
	S(200, cuGraphLaunch, 10000) S(201, cuGraphLaunch_ptsz, 10000) \
	S(202, cuGraphMemAllocNodeGetParams, 11040) \
	S(203, cuGraphMemFreeNodeGetParams, 11040) \
	S(204, cuGraphMemcpyNodeGetParams, 10000) \
	S(205, cuGraphMemcpyNodeSetParams, 10000) \
	S(206, cuGraphMemsetNodeGetParams, 10000) \
	S(207, cuGraphMemsetNodeSetParams, 10000) \
	S(208, cuGraphNodeFindInClone, 10000) \
	S(209, cuGraphNodeGetDependencies, 10000) \
	S(210, cuGraphNodeGetDependencies_v2, 12030) \
	S(211, cuGraphNodeGetDependentNodes, 10000) \
	S(212, cuGraphNodeGetDependentNodes_v2, 12030) \
	S(213, cuGraphNodeGetEnabled, 11060) \
	S(214, cuGraphNodeGetType, 10000) \
	S(215, cuGraphNodeSetEnabled, 11060) \
	S(216, cuGraphNodeSetParams, 12020) \
	S(217, cuGraphReleaseUserObject, 11030) \
	S(218, cuGraphRemoveDependencies, 10000) \
	S(219, cuGraphRemoveDependencies_v2, 12030) \
	S(220, cuGraphRetainUserObject, 11030) S(221, cuGraphUpload, 11010) \
	S(222, cuGraphUpload_ptsz, 11010) \
	S(223, cuGraphicsMapResources, 3000) \
	S(224, cuGraphicsMapResources_ptsz, 7000) \
	S(225, cuGraphicsResourceGetMappedMipmappedArray, 5000) \
	S(226, cuGraphicsResourceGetMappedPointer, 3000) \
	S(227, cuGraphicsResourceGetMappedPointer_v2, 3020) \
	S(228, cuGraphicsResourceSetMapFlags, 3000) \
	S(229, cuGraphicsResourceSetMapFlags_v2, 6050) \
	S(230, cuGraphicsSubResourceGetMappedArray, 3000) \
	S(231, cuGraphicsUnmapResources, 3000) \
	S(232, cuGraphicsUnmapResources_ptsz, 7000) \
	S(233, cuGraphicsUnregisterResource, 3000) \
	S(234, cuGreenCtxCreate, 12040) S(235, cuGreenCtxDestroy, 12040) \
	S(236, cuGreenCtxGetDevResource, 12040) \
	S(237, cuGreenCtxGetId, 12090) S(238, cuGreenCtxRecordEvent, 12040) \
	S(239, cuGreenCtxStreamCreate, 12050) \
	S(240, cuGreenCtxWaitEvent, 12040) \
	S(241, cuImportExternalMemory, 10000) \
	S(242, cuImportExternalSemaphore, 10000) S(243, cuInit, 2000) \
	S(244, cuIpcCloseMemHandle, 4010) S(245, cuIpcGetEventHandle, 4010) \
	S(246, cuIpcGetMemHandle, 4010) S(247, cuIpcOpenEventHandle, 4010) \
	S(248, cuIpcOpenMemHandle, 4010) S(249, cuIpcOpenMemHandle_v2, 11000) \
	S(250, cuKernelGetAttribute, 12000) \
	S(251, cuKernelGetFunction, 12000) S(252, cuKernelGetLibrary, 12050) \
	S(253, cuKernelGetName, 12030) S(254, cuKernelGetParamInfo, 12040) \
	S(255, cuKernelSetAttribute, 12000) \
	S(256, cuKernelSetCacheConfig, 12000) S(257, cuLaunch, 2000) \
	S(258, cuLaunchCooperativeKernel, 9000) \
	S(259, cuLaunchCooperativeKernelMultiDevice, 9000) \
	S(260, cuLaunchCooperativeKernel_ptsz, 9000) \
	S(261, cuLaunchGrid, 2000) S(262, cuLaunchGridAsync, 2000) \
	S(263, cuLaunchHostFunc, 10000) S(264, cuLaunchHostFunc_ptsz, 10000) \
	S(265, cuLaunchKernel, 4000) S(266, cuLaunchKernelEx, 11060) \
	S(267, cuLaunchKernelEx_ptsz, 11060) \
	S(268, cuLaunchKernel_ptsz, 7000) \
	S(269, cuLibraryEnumerateKernels, 12040) \
	S(270, cuLibraryGetGlobal, 12000) S(271, cuLibraryGetKernel, 12000) \
	S(272, cuLibraryGetKernelCount, 12040) \
	S(273, cuLibraryGetManaged, 12000) S(274, cuLibraryGetModule, 12000) \
	S(275, cuLibraryGetUnifiedFunction, 12000) \
	S(276, cuLibraryLoadData, 12000) S(277, cuLibraryLoadFromFile, 12000) \
	S(278, cuLibraryUnload, 12000) S(279, cuLinkAddData, 5050) \
	S(280, cuLinkAddData_v2, 6050) S(281, cuLinkAddFile, 5050) \
	S(282, cuLinkAddFile_v2, 6050) S(283, cuLinkComplete, 5050) \
	S(284, cuLinkCreate, 5050) S(285, cuLinkCreate_v2, 6050) \
	S(286, cuLinkDestroy, 5050) S(287, cuLogsCurrent, 12090) \
	S(288, cuLogsDumpToFile, 12090) S(289, cuLogsDumpToMemory, 12090) \
	S(290, cuLogsRegisterCallback, 12090) \
	S(291, cuLogsUnregisterCallback, 12090) \
	S(292, cuMemAddressFree, 10020) S(293, cuMemAddressReserve, 10020) \
	S(294, cuMemAdvise, 8000) S(295, cuMemAdvise_v2, 12020) \
	S(296, cuMemAlloc, 2000) S(297, cuMemAllocAsync, 11020) \
	S(298, cuMemAllocAsync_ptsz, 11020) \
	S(299, cuMemAllocFromPoolAsync, 11020) \
	S(300, cuMemAllocFromPoolAsync_ptsz, 11020) \
	S(301, cuMemAllocHost, 2000) S(302, cuMemAllocHost_v2, 3020) \
	S(303, cuMemAllocManaged, 6000) S(304, cuMemAllocPitch, 2000) \
	S(305, cuMemAllocPitch_v2, 3020) S(306, cuMemAlloc_v2, 3020) \
	S(307, cuMemBatchDecompressAsync, 12060) \
	S(308, cuMemBatchDecompressAsync_ptsz, 12060) \
	S(309, cuMemCreate, 10020) \
	S(310, cuMemDiscardAndPrefetchBatchAsync, 13000) \
	S(311, cuMemDiscardAndPrefetchBatchAsync_ptsz, 13000) \
	S(312, cuMemDiscardBatchAsync, 13000) \
	S(313, cuMemDiscardBatchAsync_ptsz, 13000) \
	S(314, cuMemExportToShareableHandle, 10020) S(315, cuMemFree, 2000) \
	S(316, cuMemFreeAsync, 11020) S(317, cuMemFreeAsync_ptsz, 11020) \
	S(318, cuMemFreeHost, 2000) S(319, cuMemFree_v2, 3020) \
	S(320, cuMemGetAccess, 10020) S(321, cuMemGetAddressRange, 2000) \
	S(322, cuMemGetAddressRange_v2, 3020) \
	S(323, cuMemGetAllocationGranularity, 10020) \
	S(324, cuMemGetAllocationPropertiesFromHandle, 10020) \
	S(325, cuMemGetDefaultMemPool, 13000) \
	S(326, cuMemGetHandleForAddressRange, 11070) \
	S(327, cuMemGetInfo, 2000) S(328, cuMemGetInfo_v2, 3020) \
	S(329, cuMemGetMemPool, 13000) S(330, cuMemHostAlloc, 2020) \
	S(331, cuMemHostGetDevicePointer, 2020) \
	S(332, cuMemHostGetDevicePointer_v2, 3020) \
	S(333, cuMemHostGetFlags, 2030) S(334, cuMemHostRegister, 4000) \
	S(335, cuMemHostRegister_v2, 6050) S(336, cuMemHostUnregister, 4000) \
	S(337, cuMemImportFromShareableHandle, 10020) S(338, cuMemMap, 10020) \
	S(339, cuMemMapArrayAsync, 11010) \
	S(340, cuMemMapArrayAsync_ptsz, 11010) S(341, cuMemPoolCreate, 11020) \
	S(342, cuMemPoolDestroy, 11020) S(343, cuMemPoolExportPointer, 11020) \
	S(344, cuMemPoolExportToShareableHandle, 11020) \
	S(345, cuMemPoolGetAccess, 11020) \
	S(346, cuMemPoolGetAttribute, 11020) \
	S(347, cuMemPoolImportFromShareableHandle, 11020) \
	S(348, cuMemPoolImportPointer, 11020) \
	S(349, cuMemPoolSetAccess, 11020) \
	S(350, cuMemPoolSetAttribute, 11020) S(351, cuMemPoolTrimTo, 11020) \
	S(352, cuMemPrefetchAsync, 8000) \
	S(353, cuMemPrefetchAsync_ptsz, 8000) \
	S(354, cuMemPrefetchAsync_v2, 12020) \
	S(355, cuMemPrefetchAsync_v2_ptsz, 12020) \
	S(356, cuMemPrefetchBatchAsync, 13000) \
	S(357, cuMemPrefetchBatchAsync_ptsz, 13000) \
	S(358, cuMemRangeGetAttribute, 8000) \
	S(359, cuMemRangeGetAttributes, 8000) S(360, cuMemRelease, 10020) \
	S(361, cuMemRetainAllocationHandle, 11000) \
	S(362, cuMemSetAccess, 10020) S(363, cuMemSetMemPool, 13000) \
	S(364, cuMemUnmap, 10020) S(365, cuMemcpy, 4000) \
	S(366, cuMemcpy2D, 2000) S(367, cuMemcpy2DAsync, 2000) \
	S(368, cuMemcpy2DAsync_v2, 3020) \
	S(369, cuMemcpy2DAsync_v2_ptsz, 7000) \
	S(370, cuMemcpy2DUnaligned, 2000) \
	S(371, cuMemcpy2DUnaligned_v2, 3020) \
	S(372, cuMemcpy2DUnaligned_v2_ptds, 7000) S(373, cuMemcpy2D_v2, 3020) \
	S(374, cuMemcpy2D_v2_ptds, 7000) S(375, cuMemcpy3D, 2000) \
	S(376, cuMemcpy3DAsync, 2000) S(377, cuMemcpy3DAsync_v2, 3020) \
	S(378, cuMemcpy3DAsync_v2_ptsz, 7000) \
	S(379, cuMemcpy3DBatchAsync, 12080) \
	S(380, cuMemcpy3DBatchAsync_ptsz, 12080) \
	S(381, cuMemcpy3DBatchAsync_v2, 13000) \
	S(382, cuMemcpy3DBatchAsync_v2_ptsz, 13000) \
	S(383, cuMemcpy3DPeer, 4000) S(384, cuMemcpy3DPeerAsync, 4000) \
	S(385, cuMemcpy3DPeerAsync_ptsz, 7000) \
	S(386, cuMemcpy3DPeer_ptds, 7000) S(387, cuMemcpy3D_v2, 3020) \
	S(388, cuMemcpy3D_v2_ptds, 7000) S(389, cuMemcpyAsync, 4000) \
	S(390, cuMemcpyAsync_ptsz, 7000) S(391, cuMemcpyAtoA, 2000) \
	S(392, cuMemcpyAtoA_v2, 3020) S(393, cuMemcpyAtoA_v2_ptds, 7000) \
	S(394, cuMemcpyAtoD, 2000) S(395, cuMemcpyAtoD_v2, 3020) \
	S(396, cuMemcpyAtoD_v2_ptds, 7000) S(397, cuMemcpyAtoH, 2000) \
	S(398, cuMemcpyAtoHAsync, 2000) S(399, cuMemcpyAtoHAsync_v2, 3020) \
	S(400, cuMemcpyAtoHAsync_v2_ptsz, 7000) S(401, cuMemcpyAtoH_v2, 3020) \
	S(402, cuMemcpyAtoH_v2_ptds, 7000) S(403, cuMemcpyBatchAsync, 12080) \
	S(404, cuMemcpyBatchAsync_ptsz, 12080) \
	S(405, cuMemcpyBatchAsync_v2, 13000) \
	S(406, cuMemcpyBatchAsync_v2_ptsz, 13000) S(407, cuMemcpyDtoA, 2000) \
	S(408, cuMemcpyDtoA_v2, 3020) S(409, cuMemcpyDtoA_v2_ptds, 7000) \
	S(410, cuMemcpyDtoD, 2000) S(411, cuMemcpyDtoDAsync, 3000) \
	S(412, cuMemcpyDtoDAsync_v2, 3020) \
	S(413, cuMemcpyDtoDAsync_v2_ptsz, 7000) S(414, cuMemcpyDtoD_v2, 3020) \
	S(415, cuMemcpyDtoD_v2_ptds, 7000) S(416, cuMemcpyDtoH, 2000) \
	S(417, cuMemcpyDtoHAsync, 2000) S(418, cuMemcpyDtoHAsync_v2, 3020) \
	S(419, cuMemcpyDtoHAsync_v2_ptsz, 7000) S(420, cuMemcpyDtoH_v2, 3020) \
	S(421, cuMemcpyDtoH_v2_ptds, 7000) S(422, cuMemcpyHtoA, 2000) \
	S(423, cuMemcpyHtoAAsync, 2000) S(424, cuMemcpyHtoAAsync_v2, 3020) \
	S(425, cuMemcpyHtoAAsync_v2_ptsz, 7000) S(426, cuMemcpyHtoA_v2, 3020) \
	S(427, cuMemcpyHtoA_v2_ptds, 7000) S(428, cuMemcpyHtoD, 2000) \
	S(429, cuMemcpyHtoDAsync, 2000) S(430, cuMemcpyHtoDAsync_v2, 3020) \
	S(431, cuMemcpyHtoDAsync_v2_ptsz, 7000) S(432, cuMemcpyHtoD_v2, 3020) \
	S(433, cuMemcpyHtoD_v2_ptds, 7000) S(434, cuMemcpyPeer, 4000) \
	S(435, cuMemcpyPeerAsync, 4000) S(436, cuMemcpyPeerAsync_ptsz, 7000) \
	S(437, cuMemcpyPeer_ptds, 7000) S(438, cuMemcpy_ptds, 7000) \
	S(439, cuMemsetD16, 2000) S(440, cuMemsetD16Async, 3020) \
	S(441, cuMemsetD16Async_ptsz, 7000) S(442, cuMemsetD16_v2, 3020) \
	S(443, cuMemsetD16_v2_ptds, 7000) S(444, cuMemsetD2D16, 2000) \
	S(445, cuMemsetD2D16Async, 3020) \
	S(446, cuMemsetD2D16Async_ptsz, 7000) S(447, cuMemsetD2D16_v2, 3020) \
	S(448, cuMemsetD2D16_v2_ptds, 7000) S(449, cuMemsetD2D32, 2000) \
	S(450, cuMemsetD2D32Async, 3020) \
	S(451, cuMemsetD2D32Async_ptsz, 7000) S(452, cuMemsetD2D32_v2, 3020) \
	S(453, cuMemsetD2D32_v2_ptds, 7000) S(454, cuMemsetD2D8, 2000) \
	S(455, cuMemsetD2D8Async, 3020) S(456, cuMemsetD2D8Async_ptsz, 7000) \
	S(457, cuMemsetD2D8_v2, 3020) S(458, cuMemsetD2D8_v2_ptds, 7000) \
	S(459, cuMemsetD32, 2000) S(460, cuMemsetD32Async, 3020) \
	S(461, cuMemsetD32Async_ptsz, 7000) S(462, cuMemsetD32_v2, 3020) \
	S(463, cuMemsetD32_v2_ptds, 7000) S(464, cuMemsetD8, 2000) \
	S(465, cuMemsetD8Async, 3020) S(466, cuMemsetD8Async_ptsz, 7000) \
	S(467, cuMemsetD8_v2, 3020) S(468, cuMemsetD8_v2_ptds, 7000) \
	S(469, cuMipmappedArrayCreate, 5000) \
	S(470, cuMipmappedArrayDestroy, 5000) \
	S(471, cuMipmappedArrayGetLevel, 5000) \
	S(472, cuMipmappedArrayGetMemoryRequirements, 11060) \
	S(473, cuMipmappedArrayGetSparseProperties, 11010) \
	S(474, cuModuleEnumerateFunctions, 12040) \
	S(475, cuModuleGetFunction, 2000) \
	S(476, cuModuleGetFunctionCount, 12040) \
	S(477, cuModuleGetGlobal, 2000) S(478, cuModuleGetGlobal_v2, 3020) \
	S(479, cuModuleGetLoadingMode, 11070) \
	S(480, cuModuleGetSurfRef, 3000) S(481, cuModuleGetTexRef, 2000) \
	S(482, cuModuleLoad, 2000) S(483, cuModuleLoadData, 2000) \
	S(484, cuModuleLoadDataEx, 2010) S(485, cuModuleLoadFatBinary, 2000) \
	S(486, cuModuleUnload, 2000) S(487, cuMulticastAddDevice, 12010) \
	S(488, cuMulticastBindAddr, 12010) S(489, cuMulticastBindMem, 12010) \
	S(490, cuMulticastCreate, 12010) \
	S(491, cuMulticastGetGranularity, 12010) \
	S(492, cuMulticastUnbind, 12010) \
	S(493, cuOccupancyAvailableDynamicSMemPerBlock, 10020) \
	S(494, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050) \
	S(495, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) \
	S(496, cuOccupancyMaxActiveClusters, 11070) \
	S(497, cuOccupancyMaxPotentialBlockSize, 6050) \
	S(498, cuOccupancyMaxPotentialBlockSizeWithFlags, 7000) \
	S(499, cuOccupancyMaxPotentialClusterSize, 11070) \
	S(500, cuParamSetSize, 2000) S(501, cuParamSetTexRef, 2000) \
	S(502, cuParamSetf, 2000) S(503, cuParamSeti, 2000) \
	S(504, cuParamSetv, 2000) S(505, cuPointerGetAttribute, 4000) \
	S(506, cuPointerGetAttributes, 7000) \
	S(507, cuPointerSetAttribute, 6000) \
	S(508, cuProfilerInitialize, 4000) S(509, cuProfilerStart, 4000) \
	S(510, cuProfilerStop, 4000) \
	S(511, cuSignalExternalSemaphoresAsync, 10000) \
	S(512, cuSignalExternalSemaphoresAsync_ptsz, 10000) \
	S(513, cuStreamAddCallback, 5000) \
	S(514, cuStreamAddCallback_ptsz, 7000) \
	S(515, cuStreamAttachMemAsync, 6000) \
	S(516, cuStreamAttachMemAsync_ptsz, 7000) \
	S(517, cuStreamBatchMemOp, 8000) \
	S(518, cuStreamBatchMemOp_ptsz, 8000) \
	S(519, cuStreamBatchMemOp_v2, 11070) \
	S(520, cuStreamBatchMemOp_v2_ptsz, 11070) \
	S(521, cuStreamBeginCapture, 10000) \
	S(522, cuStreamBeginCaptureToGraph, 12030) \
	S(523, cuStreamBeginCaptureToGraph_ptsz, 12030) \
	S(524, cuStreamBeginCapture_ptsz, 10000) \
	S(525, cuStreamBeginCapture_v2, 10010) \
	S(526, cuStreamBeginCapture_v2_ptsz, 10010) \
	S(527, cuStreamCopyAttributes, 11000) \
	S(528, cuStreamCopyAttributes_ptsz, 11000) \
	S(529, cuStreamCreate, 2000) S(530, cuStreamCreateWithPriority, 5050) \
	S(531, cuStreamDestroy, 2000) S(532, cuStreamDestroy_v2, 4000) \
	S(533, cuStreamEndCapture, 10000) \
	S(534, cuStreamEndCapture_ptsz, 10000) \
	S(535, cuStreamGetAttribute, 11000) \
	S(536, cuStreamGetAttribute_ptsz, 11000) \
	S(537, cuStreamGetCaptureInfo, 10010) \
	S(538, cuStreamGetCaptureInfo_ptsz, 10010) \
	S(539, cuStreamGetCaptureInfo_v2, 11030) \
	S(540, cuStreamGetCaptureInfo_v2_ptsz, 11030) \
	S(541, cuStreamGetCaptureInfo_v3, 12030) \
	S(542, cuStreamGetCaptureInfo_v3_ptsz, 12030) \
	S(543, cuStreamGetCtx, 9020) S(544, cuStreamGetCtx_ptsz, 9020) \
	S(545, cuStreamGetCtx_v2, 12050) \
	S(546, cuStreamGetCtx_v2_ptsz, 12050) \
	S(547, cuStreamGetDevice, 12080) \
	S(548, cuStreamGetDevice_ptsz, 12080) S(549, cuStreamGetFlags, 5050) \
	S(550, cuStreamGetFlags_ptsz, 7000) \
	S(551, cuStreamGetGreenCtx, 12040) S(552, cuStreamGetId, 12000) \
	S(553, cuStreamGetId_ptsz, 12000) S(554, cuStreamGetPriority, 5050) \
	S(555, cuStreamGetPriority_ptsz, 7000) \
	S(556, cuStreamIsCapturing, 10000) \
	S(557, cuStreamIsCapturing_ptsz, 10000) S(558, cuStreamQuery, 2000) \
	S(559, cuStreamQuery_ptsz, 7000) S(560, cuStreamSetAttribute, 11000) \
	S(561, cuStreamSetAttribute_ptsz, 11000) \
	S(562, cuStreamSynchronize, 2000) \
	S(563, cuStreamSynchronize_ptsz, 7000) \
	S(564, cuStreamUpdateCaptureDependencies, 11030) \
	S(565, cuStreamUpdateCaptureDependencies_ptsz, 11030) \
	S(566, cuStreamUpdateCaptureDependencies_v2, 12030) \
	S(567, cuStreamUpdateCaptureDependencies_v2_ptsz, 12030) \
	S(568, cuStreamWaitEvent, 3020) S(569, cuStreamWaitEvent_ptsz, 7000) \
	S(570, cuStreamWaitValue32, 8000) \
	S(571, cuStreamWaitValue32_ptsz, 8000) \
	S(572, cuStreamWaitValue32_v2, 11070) \
	S(573, cuStreamWaitValue32_v2_ptsz, 11070) \
	S(574, cuStreamWaitValue64, 9000) \
	S(575, cuStreamWaitValue64_ptsz, 9000) \
	S(576, cuStreamWaitValue64_v2, 11070) \
	S(577, cuStreamWaitValue64_v2_ptsz, 11070) \
	S(578, cuStreamWriteValue32, 8000) \
	S(579, cuStreamWriteValue32_ptsz, 8000) \
	S(580, cuStreamWriteValue32_v2, 11070) \
	S(581, cuStreamWriteValue32_v2_ptsz, 11070) \
	S(582, cuStreamWriteValue64, 9000) \
	S(583, cuStreamWriteValue64_ptsz, 9000) \
	S(584, cuStreamWriteValue64_v2, 11070) \
	S(585, cuStreamWriteValue64_v2_ptsz, 11070) \
	S(586, cuSurfObjectCreate, 5000) S(587, cuSurfObjectDestroy, 5000) \
	S(588, cuSurfObjectGetResourceDesc, 5000) \
	S(589, cuSurfRefGetArray, 3000) S(590, cuSurfRefSetArray, 3000) \
	S(591, cuTensorMapEncodeIm2col, 12000) \
	S(592, cuTensorMapEncodeIm2colWide, 12080) \
	S(593, cuTensorMapEncodeTiled, 12000) \
	S(594, cuTensorMapReplaceAddress, 12000) \
	S(595, cuTexObjectCreate, 5000) S(596, cuTexObjectDestroy, 5000) \
	S(597, cuTexObjectGetResourceDesc, 5000) \
	S(598, cuTexObjectGetResourceViewDesc, 5000) \
	S(599, cuTexObjectGetTextureDesc, 5000) S(600, cuTexRefCreate, 2000) \
	S(601, cuTexRefDestroy, 2000) S(602, cuTexRefGetAddress, 2000) \
	S(603, cuTexRefGetAddressMode, 2000) \
	S(604, cuTexRefGetAddress_v2, 3020) S(605, cuTexRefGetArray, 2000) \
	S(606, cuTexRefGetBorderColor, 8000) \
	S(607, cuTexRefGetFilterMode, 2000) S(608, cuTexRefGetFlags, 2000) \
	S(609, cuTexRefGetFormat, 2000) \
	S(610, cuTexRefGetMaxAnisotropy, 5000) \
	S(611, cuTexRefGetMipmapFilterMode, 5000) \
	S(612, cuTexRefGetMipmapLevelBias, 5000) \
	S(613, cuTexRefGetMipmapLevelClamp, 5000) \
	S(614, cuTexRefGetMipmappedArray, 5000) \
	S(615, cuTexRefSetAddress, 2000) S(616, cuTexRefSetAddress2D, 2020) \
	S(617, cuTexRefSetAddress2D_v2, 3020) \
	S(618, cuTexRefSetAddress2D_v3, 4010) \
	S(619, cuTexRefSetAddressMode, 2000) \
	S(620, cuTexRefSetAddress_v2, 3020) S(621, cuTexRefSetArray, 2000) \
	S(622, cuTexRefSetBorderColor, 8000) \
	S(623, cuTexRefSetFilterMode, 2000) S(624, cuTexRefSetFlags, 2000) \
	S(625, cuTexRefSetFormat, 2000) \
	S(626, cuTexRefSetMaxAnisotropy, 5000) \
	S(627, cuTexRefSetMipmapFilterMode, 5000) \
	S(628, cuTexRefSetMipmapLevelBias, 5000) \
	S(629, cuTexRefSetMipmapLevelClamp, 5000) \
	S(630, cuTexRefSetMipmappedArray, 5000) \
	S(631, cuThreadExchangeStreamCaptureMode, 10010) \
	S(632, cuUserObjectCreate, 11030) S(633, cuUserObjectRelease, 11030) \
	S(634, cuUserObjectRetain, 11030) \
	S(635, cuWaitExternalSemaphoresAsync, 10000) \
	S(636, cuWaitExternalSemaphoresAsync_ptsz, 10000)

/* Those that are given a float or a double itself, not where it is. */
#define DRILL_CUDA_FLOATS(F) \
	F(cuParamSetf) F(cuTexRefSetMipmapLevelBias) \
	F(cuTexRefSetMipmapLevelClamp)

#define DRILL_CUDA_CALLS 637
/* A name asked for in a newer version may mean what is not known here. */
#define DRILL_CUDA_NEWEST 13000

#endif
