export { checkHooks } from './check-hooks.ts'
export type { HookDefinition, HookPlace, HookPoint } from './hook-definition.ts'
export { hookFiles, hookHashes, type TrustedFiles } from './hook-files.ts'
export { hooksFrom } from './hooks-from.ts'
