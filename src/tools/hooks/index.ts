export type { HookDefinition, HookPoint } from '../../contracts/index.ts'
export { type BuiltHook, checkHooks, createHook, hooksFrom, type MissingPart } from './create-hooks.ts'
export type { HookPlace } from './hook-answer.ts'
export { hookFiles, hookHashes, type TrustedFiles } from './hook-files.ts'
