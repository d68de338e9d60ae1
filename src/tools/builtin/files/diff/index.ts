export { type Difference, diffLines } from './diff-lines.ts'
export { linesOf, noNewline, type UnifiedDiff, unifiedDiff } from './unified-diff.ts'
