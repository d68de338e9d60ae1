export { type AppliedHunks, applyHunks } from './apply-hunks.ts'
export { parsePatch } from './parse-patch.ts'
export type { FilePatch, Hunk, ParsedPatch, PatchLine } from './patch-types.ts'
