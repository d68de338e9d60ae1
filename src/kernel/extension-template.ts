import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { extensionId, TroupeError } from '../contracts/index.ts'
import { packageFile } from '../project/index.ts'

/** Kinds of `troupe extensions new`. Each is a folder of `extensions-template`. */
export const templateKinds = ['tool', 'agent', 'channel', 'service', 'schedule'] as const
export type TemplateKind = (typeof templateKinds)[number]

interface NewExtension {
  readonly kind: TemplateKind
  readonly id: string
  /** The folder that gets the folder of the extension. Absolute. It is created if it is missing. */
  readonly place: string
}

/**
 * Writes a new extension from a template, and returns its files, absolute.
 *
 * @throws TroupeError `usage` if the id is wrong or the folder exists.
 */
export async function createExtension({ kind, id, place }: NewExtension): Promise<readonly string[]> {
  if (!extensionId.test(id)) {
    const remedy = 'Use at most 40 lower-case letters, digits, and single `_` or `-`; begin with a letter.'
    throw new TroupeError('usage', `"${id}" is not a valid id`, { remedy })
  }
  const folder = join(place, id)
  await mkdir(place, { recursive: true })
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    throw new TroupeError('usage', `${folder} exists`, { remedy: 'Choose another id, or remove the folder.' })
  })
  const template = fileURLToPath(packageFile(`extensions-template/${kind}`))
  const entries = await readdir(template, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  return Promise.all(
    files.toSorted().map(async (file) => {
      const target = join(folder, file.slice(template.length))
      await mkdir(dirname(target), { recursive: true })
      await writeFile(target, fillIn(await readFile(file, 'utf8'), id), { flag: 'wx' })
      return target
    }),
  )
}

function fillIn(text: string, id: string): string {
  const words = id.split(/[_-]/).map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return text.replaceAll('template_id', id).replaceAll('Template Name', words.join(' ')).replaceAll('TemplateClass', words.join(''))
}
