export { type CompiledPattern, compilePattern, literally, type SearchPattern } from './pattern.ts'
export { type FoundIn, type SearchFigures, searchPlaces } from './search-places.ts'
