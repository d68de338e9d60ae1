import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { commandApproval } from './command-approval.ts'
import { plainCommands, quoted, unquoted } from './shell-words.ts'

const keysOf = (command: string, stdin?: string) => commandApproval({ command, stdin, isConfined: false })?.keys.map(({ key }) => key)
const widerOf = (command: string) => commandApproval({ command, stdin: undefined, isConfined: false })?.wider?.map(({ key }) => key) ?? []

describe('the keys of a command', () => {
  it.each([
    ['git status', ['command:git status']],
    ['  git   "status"  ', ['command:git status']],
    ['git \'commit\' -m "a b"', ["command:git commit -m 'a b'"]],
    [
      'git add . && git commit -m x; npm test | tee log',
      ['command:git add .', 'command:git commit -m x', 'command:npm test', 'command:tee log'],
    ],
    ['make || make clean', ['command:make', 'command:make clean']],
    ['ls\npwd', ['command:ls', 'command:pwd']],
    ['npm test 2>&1 | tail -5', ['command:npm test', 'command:tail -5']],
    ['npm test >/dev/null 2>&1', ['command:npm test']],
    ['rm *.log', ['command:rm *.log']],
    ["rm '*.log'", ["command:rm '*.log'"]],
    ['rm \\*.log', ["command:rm '*.log'"]],
    ['\\rm x', ['command:rm x']],
    ['bash -lc "git status && ls"', ['command:git status', 'command:ls']],
    ["/bin/sh -c 'bash -c ls'", ['command:ls']],
    ['ls; ls', ['command:ls']],
  ])('%j', (command, keys) => {
    expect(keysOf(command)).toEqual(keys)
  })

  it.each([
    'echo $(rm -rf x)',
    'echo `rm x`',
    'echo $HOME',
    'echo "$HOME"',
    'PATH=/evil ls',
    'ls > file',
    'ls >> file',
    'ls 2> file',
    'ls >/dev/null/x',
    'ls >/dev/null"x"',
    'cat < file',
    'cat << END\nx\nEND',
    'sleep 100 &',
    'ls & rm x',
    'ls &> file',
    '(ls)',
    '{ ls; }',
    'echo {a,b}',
    'for i in 1; do ls; done',
    'if true; then ls; fi',
    '! ls',
    '*/ls',
    '~/evil',
    '[ -e x ]',
    'ls #comment',
    'ls |& cat',
    'ls |',
    '&& ls',
    'ls ;; ls',
    'echo "unclosed',
    "echo 'unclosed",
    'echo \\',
    'ls\rrm x',
    'echo a\u00a0b',
    "bash -c 'echo $X'",
    'diff <(ls) x',
    'ls\\\n-l',
    '"a b" c',
  ])('of %j are one, told whole', (command) => {
    expect(keysOf(command)).toEqual([`script:${JSON.stringify(command)}`])
    expect(widerOf(command)).toEqual([])
  })

  it('are told with what is given to read', () => {
    expect(keysOf('python3', 'import os')).toEqual(['script:"python3" < "import os"'])
    expect(keysOf('python3')).toEqual(['command:python3'])
  })

  it('leave a shell with anything more than a line alone', () => {
    expect(keysOf('bash -c ls x')).toEqual(['command:bash -c ls x'])
    expect(keysOf('bash script.sh')).toEqual(['command:bash script.sh'])
    expect(keysOf('./bash -c ls')).toEqual(['command:./bash -c ls'])
  })

  it('read back as the very same words', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.string({ unit: 'binary' }).filter((word) => !word.includes('\0')),
          { maxLength: 4 },
        ),
        (rest) => {
          const words = ['tool', ...rest]
          const read = plainCommands(words.map(quoted).join(' '))
          expect(read?.[0]?.map(unquoted)).toEqual(words)
        },
      ),
    )
  })
})

describe('wider keys', () => {
  it.each([
    ['tsc -p .', ['command:tsc ']],
    ['git commit -m x', ['command:git commit ']],
    ['npm run build', ['command:npm run ']],
    ['cargo build --release', ['command:cargo build ']],
  ])('of %j', (command, keys) => {
    expect(widerOf(command)).toEqual(keys)
  })

  it('cover the call, and not a program that only begins alike', () => {
    const [wider] = widerOf('tsc -p .')
    expect('command:tsc -p .'.startsWith(wider!)).toBe(true)
    expect('command:tscx'.startsWith(wider!)).toBe(false)
    expect(keysOf('tsc -p . $(rm x)')?.[0]?.startsWith(wider!)).toBe(false)
  })

  it.each([
    'tsc',
    'git status',
    'git -C x status',
    'git config a b',
    'npm exec thing',
    'bash script.sh',
    'python3 x.py',
    'python3.12 x.py',
    'node x.js',
    'env X=1 ls',
    'xargs rm',
    'find . -delete',
    'rm -rf x',
    'sudo ls',
    'ssh host ls',
    'npx thing x',
    'docker run x',
    'eval ls',
    './script.sh x',
    '/usr/bin/tsc -p .',
    'ls -l && pwd',
  ])('are not offered for %j', (command) => {
    expect(widerOf(command)).toEqual([])
  })
})

describe('what need not be asked about', () => {
  const confined = (command: string) => commandApproval({ command, stdin: undefined, isConfined: true })
  it.each([
    'ls',
    'cat a.txt | head -5',
    'git status',
    'git log --oneline -5',
    'git diff --stat HEAD~1',
    'grep -rn word src',
    'cd src && ls -la',
    'wc -l *.ts',
  ])('%j, behind walls', (command) => {
    expect(confined(command)).toBeUndefined()
    expect(keysOf(command)).not.toBeUndefined()
  })
  it.each([
    'rm x',
    'npm test',
    'ls && rm x',
    'git commit -m x',
    'git log --output=x',
    'git diff --ext-diff',
    'cat x > y',
    'echo $(x)',
    'find . -delete',
    'sort -o x y',
    './ls',
  ])('but %j', (command) => {
    expect(confined(command)).not.toBeUndefined()
  })
})
