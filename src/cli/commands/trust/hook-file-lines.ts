import { dirname, relative } from 'node:path'
import { documentFilesIn, type FileState, listHookFiles, nodeConfigFileSystem } from '../../../project/index.ts'
import { isInside } from '../../../util/is-inside.ts'
import { exactLines } from '../../terminal/exact-text.ts'
import type { Host } from '../../terminal/process-host.ts'

/** For the trust question: the files of the hooks in a configuration, and the hooks without a known file. */
export async function hookFileLines(file: FileState, style: Pick<Host, 'paint' | 'width'>): Promise<readonly string[]> {
  const bindings = await listHookFiles(nodeConfigFileSystem, file)
  const folder = dirname(file.path)
  const shown = (path: string): string => (isInside(folder, path) ? relative(folder, path) : path)
  const bound = [...new Set(bindings.flatMap(({ files }) => files))].map(shown)
  const loose = bindings.flatMap(({ hook, files }) => (files.length === 0 ? [hook] : []))
  const documents = await documentFilesIn(nodeConfigFileSystem, file)
  return [
    ...listed(
      'OpenAPI documents, trusted in their current form:',
      documents.map(({ path }) => shown(path)),
      style,
    ),
    ...listed('hook files, trusted in their current form (other files that they load may change without asking):', bound, style),
    ...listed('hooks without a known file (what they run may change without asking):', loose, style),
  ]
}

const maxListed = 20
const bar = '│ '

function listed(title: string, names: readonly string[], { paint, width }: Pick<Host, 'paint' | 'width'>): readonly string[] {
  if (names.length === 0) return []
  const left = names.length - maxListed
  const rows = names.slice(0, maxListed).flatMap((name) => exactLines(name, width - 3 - bar.length))
  return [title, ...[...rows, ...(left > 0 ? [`and ${left} more`] : [])].map((row) => `${paint('dim', bar)}${row}`)].map(
    (line) => `  ${line}`,
  )
}
