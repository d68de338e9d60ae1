export { lineIn, loadToolModules, watchLoading } from './load-tool-modules.ts'
