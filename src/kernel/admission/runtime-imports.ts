import { readFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { ExtensionProblem } from '../../contracts/index.ts'
import { hashFolder } from '../loader/hash-folder.ts'

const code = /\.[cm]?[jt]s$/
/** Comments, which may contain examples. Texts that look like one only hide a finding. */
const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
const name = /['"`](troupe(?:\/[\w./-]+)?)['"`]/.source
const imports = new RegExp(
  [
    // Not `import type`, but `import type from` and `import type, { … } from`.
    String.raw`^[ \t]*(?:import|export)\b(?!\s*type\b(?!\s*(?:,|from\b)))[^'"\`;()=]*?\bfrom\s*${name}`,
    String.raw`^[ \t]*import\s*${name}`,
    String.raw`\b(?:import|require)\(\s*${name}`,
  ].join('|'),
  'gm',
)

/** Where an extension imports code of Troupe, which would be a second copy, or none where Troupe is not installed in the project. */
export const runtimeImports = (folder: string): readonly ExtensionProblem[] =>
  hashFolder(folder)
    .files.filter(({ path }) => code.test(path))
    .flatMap(({ path }) => importsIn(readFileSync(path, 'utf8'), relative(dirname(folder), path)))

function importsIn(written: string, place: string): readonly ExtensionProblem[] {
  const text = written.replace(comments, (comment) => comment.replace(/[^\n]/g, ' '))
  return [...text.matchAll(imports)].map((found) => {
    const imported = found[1] ?? found[2] ?? found[3] ?? ''
    const before = text.slice(0, found.index + found[0].lastIndexOf(imported))
    return {
      place: `${place}:${before.split('\n').length}`,
      message: `it imports code of \`${imported}\` at run time, and may import only types of Troupe`,
      remedy: 'Write `import type { … }` for types of `troupe/extension`. Everything else is in the `context` that `initialize` gets.',
    }
  })
}
