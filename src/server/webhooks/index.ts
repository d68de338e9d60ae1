export { type HookDependencies, hookBudgets, hookRoutes, unservedHooks } from './hook-routes.ts'
