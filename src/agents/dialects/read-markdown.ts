import { isMap, isScalar, isSeq, type Node } from 'yaml'
import { TroupeError } from '../../contracts/index.ts'
import { type Frontmatter, readFrontmatter } from '../agent-file/frontmatter.ts'
import { quoteValues } from '../agent-file/lenient-frontmatter.ts'
import { SourceText } from '../values/source-text.ts'
import type { Findings } from './findings.ts'
import type { ForeignText } from './foreign-agent.ts'

/** Settings in YAML between two lines of `---`, then the prompt. Throws where the settings are no YAML and cannot be made so. */
export function readMarkdown(findings: Findings, place: string, isProse: (key: string) => boolean): ForeignText | undefined {
  const { lines } = findings
  const first = lines.findIndex((line) => line.trim() !== '')
  if (lines[first]?.trimEnd() !== '---') {
    const at = { line: Math.max(0, first) + 1, column: 1 }
    findings.problem(at, 'the file does not begin with settings between two lines of `---`', 'Begin with `---`, `description: …`, `---`.')
    return undefined
  }
  const read = readLeniently(findings, place, isProse)
  return {
    at: read.at,
    settings: read.settings.map(({ key, at, value, valueAt }) => ({ key, at, value: plain(value), valueAt })),
    prompt: { value: read.prompt.text, at: read.prompt.at },
  }
}

function readLeniently(findings: Findings, place: string, isProse: (key: string) => boolean): Frontmatter {
  const text = findings.lines.join('\n')
  try {
    return readStrictly(text, place)
  } catch (error) {
    const quoted = error instanceof TroupeError ? quoteValues(text, isProse) : undefined
    if (!quoted) throw error
    const read = attempt(() => readStrictly(quoted.text, place))
    if (!read) throw error
    for (const { key, line } of quoted.at)
      findings.warn({ line, column: 1 }, `\`${key}\` is not valid YAML, and is read as if it stood in quotes`, 'Put the value in quotes.')
    return read
  }
}

function readStrictly(text: string, place: string): Frontmatter {
  const source = new SourceText(text, place)
  const read = readFrontmatter(source)
  source.done('agent_file_invalid', 'the agent file')
  if (!read) throw new TroupeError('internal', 'settings without a problem could not be read')
  return read
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (error instanceof TroupeError) return undefined
    throw error
  }
}

/** A node as the value that it stands for. Aliases were refused before. */
function plain(node: Node | null): unknown {
  if (isMap<Node, Node | null>(node))
    return Object.fromEntries(node.items.map(({ key, value }) => [isScalar(key) ? String(key.value) : '', plain(value ?? null)]))
  if (isSeq<Node>(node)) return node.items.map((each) => plain(each))
  return isScalar(node) ? node.value : null
}
