export { type LoadedModules, loadToolModules, type ModuleToLoad } from './load-tool-modules.ts'
