import { describe, expect, it } from 'vitest'
import { type HookSource, hookWords, isSystemPath } from './hook-command.ts'

const sure = (hook: HookSource): readonly string[] => hookWords(hook).flatMap(({ text, included }) => (included === 'always' ? [text] : []))

describe('the words of a hook that may be files', () => {
  it.each<[what: string, command: string[], named: string]>([
    ['a program that is called like what is written to', ['./guard.out'], './guard.out'],
    ['an argument that is, behind an interpreter', ['/bin/sh', '-e', 'rules.csv'], 'rules.csv'],
    ['an argument that is, behind what starts an interpreter', ['timeout', '5s', 'env', 'A=1', 'node', 'rules.out'], 'rules.out'],
    ['what an interpreter loads before', ['node', '-r', './first.out', 'rules.mjs'], './first.out'],
    ['an argument that is, behind that', ['node', '--import', './first.mjs', 'rules.out'], 'rules.out'],
    ['a program behind a redirection', ['sh', '-c', 'exec 2>/dev/null;./two.sh'], './two.sh'],
    ['a program behind a redirection and a pipe', ['sh', '-c', 'true >x|./two.sh'], './two.sh'],
    ['a program inside of the goal of a redirection', ['sh', '-c', 'true >`./two.sh`'], './two.sh'],
    ['another one', ['sh', '-c', 'true >$(./two.sh)'], './two.sh'],
    ['what a shell is told to read', ['sh', '-c', 'set -e; . ./three.csv'], './three.csv'],
    ['what another program runs in a shell', ['sh', '-c', 'X=1 exec node --no-warnings "./three.out" a.log'], './three.out'],
    ['what a shell is fed', ['sh', '-c', 'sh < three.csv'], 'three.csv'],
    ['what a shell is fed without a blank, in quotes', ['sh', '-c', 'sh <"./three.csv" >x.log'], './three.csv'],
    ['what a shell runs that is started by others', ['sh', '-c', './two.sh; nice sh ./g.out'], './g.out'],
    ['the folder of the hook by its variable', ['sh', '-c', '"$PWD"/two.sh'], './two.sh'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's
    ['the folder of the hook by its variable in braces', ['sh', '-c', '${PWD}/two.sh'], './two.sh'],
    ['the folder of the hook by the system', ['/proc/self/cwd/one.sh'], './one.sh'],
    ['a value', ['node', '--rules=./rules.json'], './rules.json'],
    ['one word of thousands', ['sh', '-c', `${Array.from({ length: 5_000 }, (_, i) => `a${i}`).join(' ')}; ./last.sh`], './last.sh'],
  ])('%s', (_what, command, named) => {
    expect(sure({ command })).toContain(named)
  })

  it.each([
    [['./log.sh', 'audit.log']],
    [['node', '--no-warnings', 'log.mjs', 'audit.jsonl']],
    [['python3', 'log.py', '--log', 'audit.log']],
    [['sh', '-c', 'node log.mjs audit.csv']],
  ])('an argument that is named like a log is a program only if it is executable: %j', (command) => {
    expect(hookWords({ command }).flatMap(({ text, included }) => (included === 'always' ? [] : [text]))).toEqual([
      expect.stringMatching(/^audit\.\w+$/),
    ])
  })

  it('what a hook only writes to is none of them', () => {
    const command = ['sh', '-c', 'node audit.mjs seen.jsonl >> seen.txt; tee -a my.log 2>errors.txt', '--log=all.log']
    expect(sure({ command }).filter((word) => /^[\w.]+\.\w+$/.test(word))).toEqual(['audit.mjs'])
  })

  it('a path through /proc to the current folder is relative to the hook', () => {
    expect(sure({ command: ['/proc/self/cwd/one.sh', '/proc/thread-self/cwd/two.sh'] })).toEqual(['./one.sh', './two.sh'])
  })

  it('neither is a program that is looked for elsewhere, nor a folder that is meant by itself', () => {
    expect(sure({ command: ['npm', '.', './', '..', ''], module: 'm.mjs' })).toEqual(['m.mjs'])
  })
})

describe('what no project brings along', () => {
  it.each([
    ['/usr/bin/env', true],
    ['/dev/stdin', true],
    ['/dev/fd/0', true],
    ['/proc/self/fd/2', true],
    ['/dev/shm/a.sh', false],
    ['/dev/fd/3', false],
    ['/proc/self/cwd/one.sh', false],
    ['/home/ada/a.sh', false],
  ])('%s: %s', (path, expected) => {
    expect(isSystemPath(path, path, '/home/ada')).toBe(expected)
  })
})
