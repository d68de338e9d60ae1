import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Ended, troupe } from './command.ts'
import { folder } from './folder.ts'

const root = join(import.meta.dirname, '..', '..', 'examples')

/** What each example does, by its folder. One without an entry fails. */
const examples: { readonly [name: string]: { readonly run: readonly string[]; shows(outcome: Shown, ended: Ended, place: string): void } } =
  {
    '01-hello': {
      run: ['hello.ai', 'Good morning'],
      shows: ({ report }) => expect(report.text).toContain('rehearsal'),
    },
    '02-structured-answer': {
      run: ['place.ai', 'Where is Bergen?'],
      shows: ({ report }) => expect(report.value).toMatchObject({ place: expect.any(String), country: expect.any(String) }),
    },
    '03-template': {
      run: ['clerk.ai', 'Write to the office'],
      shows: ({ report }) => expect(report.text).toBe('Dear office, the printer is repaired. Kind regards.'),
    },
    '04-team': {
      run: ['trip.ai', 'A weekend in Oslo'],
      shows: ({ report, paths }) => {
        expect(report.text).toBe('Take the 17:05 on Friday. Saturday stays dry.')
        expect(paths).toEqual(['root', 'root/trains#1', 'root/weather#1'])
      },
    },
    '05-configuration': {
      run: ['desk.ai', 'Ask the translator about fjord'],
      shows: ({ report, paths }) => {
        expect(report.text).toContain('translator')
        expect(paths).toEqual(['root', 'root/translator#1'])
      },
    },
    '06-borrowed': {
      run: ['lead.ai', 'Ask the reviewer to read main.ts'],
      shows: ({ report, paths }, { stderr }) => {
        expect(report.text).toContain('From the agent reviewer')
        expect(report.text).toContain('export const total')
        expect(stderr).not.toContain('✗')
        expect(paths).toEqual(['root', 'root/reviewer#1'])
      },
    },
    '07-three-levels': {
      run: ['editor.ai', 'Is the story of the bridge true?'],
      shows: ({ report, paths }) => {
        expect(report).toMatchObject({
          format: 'json',
          value: { print: true, because: 'Two sources agree.', sources: ['the harbour office', 'the register'] },
        })
        expect(paths).toEqual(['root', 'root/reporter#1', 'root/reporter#1/archive#1', 'root/reporter#1/caller#1'])
      },
    },
    '08-file-tools': {
      run: ['gardener.ai', 'Tidy the notes', '--allow', 'edit_file'],
      shows: ({ report }, { stderr }, place) => {
        expect(report.text).toContain('The diary is private')
        expect(stderr).toContain('Private notes stay as they are')
        expect(readFileSync(join(place, 'notes/todo.md'), 'utf8')).toBe('# To do\n\n- [x] Water the roses\n- [ ] Cut the hedge\n')
        expect(readFileSync(join(place, 'notes/private/diary.md'), 'utf8')).toBe('I was tired after the hedge.\n')
      },
    },
    '09-skills': {
      run: ['writer.ai', 'Tell the harbour that the lamp is repaired'],
      shows: ({ report }, { stderr }) => {
        expect(report.text).toContain('The Lighthouse')
        expect(stderr).toMatch(/✓ load_skill/)
      },
    },
    '10-hooks': {
      run: ['clerk.ai', 'Ada comes, her password is byron', '--trust', '--allow', 'write_file'],
      shows: ({ report }, { stderr }, place) => {
        expect(report.text).toContain('Ada is on the list')
        expect(stderr).toContain('Passwords do not belong in files.')
        expect(readFileSync(join(place, 'guests.txt'), 'utf8')).toBe('Ada\n')
      },
    },
    '11-mcp': {
      run: ['librarian.ai', 'A book about the sea', '--trust', '--allow', 'library/*'],
      shows: ({ report }, { stderr }) => {
        expect(report.text).toContain('The Sea Around Us')
        expect(stderr).toMatch(/✓ library · find_books[\s\S]*✓ library · lend_book/)
      },
    },
    '12-your-own-tool': {
      run: ['trip.ai', 'From Oslo to Bergen, after lunch', '--trust'],
      shows: ({ report }, { stderr }) => {
        expect(report.text).toContain('14:25')
        expect(stderr).toMatch(/✗ timetable invalid_input[\s\S]*✓ timetable/)
      },
    },
    '13-spawned-children': {
      run: ['lead.ai', 'Oslo or Bergen?'],
      shows: ({ report, paths }) => {
        expect(report.text).toBe('Oslo, for its museums.')
        expect(paths).toEqual(['root', 'root/scout#1', 'root/scout#2'])
      },
    },
    '14-coding-agent': {
      run: ['coder.ai', 'Good morning'],
      shows: ({ report }) => expect(report.text).toContain('rehearsal'),
    },
  }

interface Shown {
  readonly report: { readonly text: string; readonly format: string; readonly value?: unknown }
  /** Every agent that was asked, by path. */
  readonly paths: readonly string[]
}

test('every folder is tested and listed in the README', () => {
  const folders = readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  expect(folders.toSorted()).toEqual(Object.keys(examples))
  const page = readFileSync(join(root, 'README.md'), 'utf8')
  for (const [name, { run }] of Object.entries(examples))
    expect(page).toMatch(new RegExp(`\`${name}\`.*troupe run ${run[0]} "${run[1]?.replace('?', '\\?')}"`))
})

test('all examples together are valid', async () => {
  const state = folder()
  const env = { HOME: state.path, XDG_STATE_HOME: join(state.path, 'state') }
  const validate = () => troupe(join(root, '..'), ['validate', 'examples', '--json'], env)
  const problemsOf = ({ stdout }: { readonly stdout: string }) => JSON.parse(stdout).error.problems
  // Only the hooks, the server and the module with tools need trust.
  expect(problemsOf(await validate())).toMatchObject([
    { place: expect.stringContaining('librarian.ai:'), message: expect.stringContaining('`library` are absent: nobody has trusted it') },
    { place: expect.stringContaining('trip.ai:'), message: expect.stringContaining('`./timetable.ts` are absent: nobody has trusted it') },
  ])
  const untrusted = ['10-hooks/.ai-agent.json', '11-mcp/.mcp.json', '12-your-own-tool/timetable.ts', '14-coding-agent/.ai-agent.json'].map(
    (file) => join(root, file),
  )
  expect(await troupe(join(root, '..'), ['trust', ...untrusted], env)).toMatchObject({ code: 0 })
  expect(await troupe(join(root, '..'), ['validate', 'examples'], env)).toEqual({
    code: 0,
    stdout: '23 agents and the configuration are valid.\n',
    stderr: '',
  })
})

describe.concurrent.each(Object.entries(examples))('%s', (name, { run, shows }) => {
  const state = folder()
  // Some of them change files.
  const place = join(state.path, name)
  cpSync(join(root, name), place, { recursive: true })
  // Modules with tools import `troupe`.
  mkdirSync(join(state.path, 'node_modules'))
  symlinkSync(join(root, '..'), join(state.path, 'node_modules', 'troupe'))
  const at = (...args: string[]) => troupe(place, args, { HOME: join(state.path, 'home'), XDG_STATE_HOME: join(state.path, 'state') })

  test('runs as its page says', async () => {
    const ended = await at('run', ...run, '--json')
    const outcome = JSON.parse(ended.stdout)
    expect([ended.stderr.includes('error:'), outcome.status, ended.code]).toEqual([false, 'completed', 0])
    const paths = [...new Set<string>(outcome.accounting.map((entry: { agentPath: string }) => entry.agentPath))].toSorted()
    shows({ report: outcome.report, paths }, ended, place)
  })

  test('is found to be right', async () => {
    expect(await at('validate')).toMatchObject({ code: 0 })
  })
})
