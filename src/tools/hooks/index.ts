export type { HookDefinition, HookPoint } from '../../contracts/index.ts'
export { checkHooks, createHook, hooksFrom } from './create-hooks.ts'
export type { HookPlace } from './hook-answer.ts'
export { hookFiles, hookHashes, type TrustedFiles } from './hook-files.ts'
