export { type CompiledPattern, compilePattern, escapePattern, type SearchPattern } from './compile-pattern.ts'
export { type FileMatches, type SearchTotals, searchAllFiles } from './search-all-files.ts'
