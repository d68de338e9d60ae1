export { type LoadedModules, lineIn, loadToolModules, type ModuleToLoad, watchLoading } from './load-tool-modules.ts'
