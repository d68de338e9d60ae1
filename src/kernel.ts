// The exports of `troupe/kernel`: the extensions of a project, its orchestrator and its conversations.
export { type CreateKernelOptions, createKernel, type KernelHost, type KernelListeners, type ProjectKernel } from './kernel/index.ts'
