import { readLenientFrontmatter } from '../../yaml/lenient-frontmatter.ts'
import type { SourceText } from '../../yaml/source-text.ts'
import { nodeToJson } from '../../yaml/yaml-nodes.ts'
import type { ForeignText } from './foreign-agent.ts'

/** Reads settings in YAML between two lines of `---`, then the prompt. Reports problems to `source`. */
export function readMarkdown(source: SourceText, isProse: (key: string) => boolean): ForeignText | undefined {
  const kind = { file: 'the file', example: '`---`, `description: …`, `---`', body: 'the prompt' }
  const read = readLenientFrontmatter(source, { kind, isProse })
  return (
    read && {
      at: read.at,
      settings: read.settings.map(({ key, at, value, valueAt }) => ({ key, at, value: nodeToJson(value), valueAt })),
      prompt: { value: read.prompt.text, at: read.prompt.at },
    }
  )
}
