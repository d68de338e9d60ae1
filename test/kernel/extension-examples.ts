import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createExtension, templateKinds } from '../../src/kernel/extension-template.ts'
import { findExtensions } from '../../src/kernel/index.ts'
import { codeBlocks, readPage, root } from '../documentation.ts'

interface ExampleFile {
  readonly file: string
  readonly text: string
}

/** The examples of docs/extensions.md. */
const guideExamples = (): readonly ExampleFile[] =>
  codeBlocks(readPage('docs/extensions.md')).flatMap(({ file, text }) => (file === undefined ? [] : [{ file, text }]))

/** The examples in the instructions of the builder, as its model sees them. */
async function builderExamples(): Promise<readonly ExampleFile[]> {
  const found = await findExtensions({
    places: [{ folder: join(root, 'extensions'), source: 'bundled' }],
    workspace: root,
    trusted: 'everything',
  })
  const prompt = found.find(({ id }) => id === 'builder_agent')?.manifest?.agent?.instructions ?? ''
  return [...prompt.matchAll(/^`(\S+\/\S+)`:\n```\w*\n([\s\S]*?)^```$/gm)].map(([, file = '', text = '']) => ({ file, text }))
}

/** Writes all examples of one source as extensions of a project, into a folder that it returns. */
export async function writeExamples(source: 'guide' | 'builder' | 'templates', project: string): Promise<string> {
  const extensions = join(project, 'extensions')
  if (source === 'templates') {
    for (const kind of templateKinds) await createExtension({ kind, id: `new_${kind}`, place: extensions })
    return extensions
  }
  for (const { file, text } of source === 'guide' ? guideExamples() : await builderExamples()) {
    mkdirSync(dirname(join(extensions, file)), { recursive: true })
    writeFileSync(join(extensions, file), text)
  }
  return extensions
}
