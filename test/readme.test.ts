import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it, test } from 'vitest'
import { codeBlocks, readPage, root } from './documentation.ts'

// The commands and agent files of the README are run in cli/guide.test.ts.

const readme = readPage('README.md')
// Inside the package, so that it finds the package by its own name.
const inside = join(root, '.snippets')
afterAll(() => rmSync(inside, { recursive: true, force: true }))

const [program = '', fragment = ''] = codeBlocks(readme).flatMap(({ language, text }) => (language === 'ts' ? [text] : []))
/** What the fragment takes from the reader's program and from packages of other frameworks. */
const surroundings = `
declare const timetable: import('troupe').Tool
declare const openai: (model: string) => Parameters<typeof fromAiSdk>[0]
declare const ChatOpenAI: new (options: object) => Parameters<typeof fromLangChain>[0]
export { byName, config, withAiSdk, withLangChain }
`

function node(...args: readonly string[]): string {
  return execFileSync(process.execPath, args, { cwd: inside, encoding: 'utf8', timeout: 60_000 })
}

describe('the README', () => {
  mkdirSync(inside, { recursive: true })
  writeFileSync(join(inside, 'program.ts'), `${program}\nprocess.stdout.write(\`\\n\${outcome.status}\`)\n`)
  writeFileSync(join(inside, 'fragment.ts'), `${fragment}${surroundings}`)

  it('shows a program that runs', () => {
    expect(node('program.ts')).toBe('A company of actors.\ncompleted')
  })

  it('shows snippets that type-check', () => {
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--types',
      'node',
    ]
    expect(node(join(root, 'node_modules/typescript/bin/tsc'), ...options, 'program.ts', 'fragment.ts')).toBe('')
  })
})

const pages = [
  'README.md',
  'AGENTS.md',
  'CONTRIBUTING.md',
  'examples/README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]

test('pages name files that exist', () => {
  const named = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'docs/status.md'].flatMap((page) =>
    [...readPage(page).matchAll(/`((?:src|test|docs|bench|bin|demo|examples|\.ci)\/[\w./-]*)`/g)].map(
      ([, path = '']) => `${page}: ${path}`,
    ),
  )
  expect(named.length).toBeGreaterThan(15)
  expect(named.filter((entry) => !existsSync(join(root, entry.split(': ')[1] ?? '')))).toEqual([])
})

test('links between pages lead to files and headings that exist', () => {
  const broken = pages.flatMap((page) =>
    linksOf(readPage(page))
      .filter((link) => !isFound(page, link))
      .map((link) => `${page}: ${link}`),
  )
  expect(broken).toEqual([])
})

test('every page of the documentation is listed in its index', () => {
  const listed = linksOf(readPage('docs/README.md')).map((link) => `docs/${link}`)
  const isListed = (page: string) => listed.includes(page) || page === 'docs/README.md' || page.startsWith('docs/decisions/0')
  expect(pages.filter((page) => page.startsWith('docs/') && !isListed(page))).toEqual([])
})

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, '')

function linksOf(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^https?:/.test(link))
}

function isFound(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(root, target))) return false
  return heading === undefined || headingsOf(target).includes(heading)
}

/** The anchors of a page, as GitHub makes them. */
function headingsOf(page: string): readonly string[] {
  return [...withoutCode(readPage(page)).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}
