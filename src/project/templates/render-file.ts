import { type JsonObject, type Problem, TroupeError } from '../../contracts/index.ts'
import { collectIncludes, folderIncludes, type TemplateText } from './includes.ts'
import { renderPrompt } from './render-prompt.ts'

/** A folder with templates. `name`: for messages. */
interface TemplateFolder {
  readonly path: string
  readonly name: string
}

type RenderedFile =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string; readonly remedy?: string; readonly problems: readonly Problem[] }

/** Renders a file of the first folder that has it. Reads nothing outside of that folder, and no hidden files. */
export async function renderFile(name: string, folders: readonly TemplateFolder[], variables: JsonObject): Promise<RenderedFile> {
  // As an include, with all its checks.
  const reference: TemplateText = { text: `{% include ${JSON.stringify(name)} ignore missing %}`, place: name, firstLine: 1 }
  for (const folder of folders) {
    const files = { ...folderIncludes(folder.path), name: folder.name }
    const { texts, problems } = collectIncludes(reference, files)
    const [refused] = problems.filter(({ place }) => place === `${name}:1:1`)
    const template = texts.get(name)
    if (refused && !template) return { ok: false, ...refused, problems: [] }
    if (!template) continue
    try {
      return { ok: true, text: await renderPrompt(template, variables, files) }
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      return { ok: false, message: error.message, problems: error.problems }
    }
  }
  const names = folders.map((folder) => folder.name).join(' and ')
  return { ok: false, message: `\`${name}\` does not exist`, remedy: `It is looked for in ${names}.`, problems: [] }
}
