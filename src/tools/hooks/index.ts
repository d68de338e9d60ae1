export { checkHooks } from './check-hooks.ts'
export type { HookDefinition, HookPlace, HookPoint } from './hook-definition.ts'
export { hooksFrom } from './hooks-from.ts'
