import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shellWord } from '../../../util/shell-word.ts'
import { type CommandRequest, commandApproval } from './command-approval.ts'
import { plainCommands, unquoted } from './shell-words.ts'

const keysOf = (command: string, stdin?: string) => commandApproval({ command, stdin, isConfined: false }).keys.map(({ key }) => key)
const widerOf = (command: string, isConfined = true) =>
  commandApproval({ command, stdin: undefined, isConfined }).wider?.map(({ key }) => key) ?? []

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
  ])('of %j are one, shown in full', (command) => {
    expect(keysOf(command)).toEqual([`script:${JSON.stringify(command)}`])
    expect(widerOf(command)).toEqual([])
  })

  it('are shown with their input', () => {
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
          const read = plainCommands(words.map(shellWord).join(' '))
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
    ['git add src', ['command:git add ']],
    ['mkdir -p a/b', ['command:mkdir ']],
    ['wc -l *.ts', ['command:wc ']],
  ])('of %j', (command, keys) => {
    expect(widerOf(command)).toEqual(keys)
  })

  it('cover the call, and not a program that only begins alike', () => {
    const [wider] = widerOf('tsc -p .')
    expect('command:tsc -p .'.startsWith(wider!)).toBe(true)
    expect('command:tscx'.startsWith(wider!)).toBe(false)
    expect(keysOf('tsc -p . $(rm x)')?.[0]?.startsWith(wider!)).toBe(false)
  })

  it('do not reach beyond the workspace without a sandbox', () => {
    expect(widerOf('cat notes.md', false)).toEqual([])
    expect(widerOf('tsc -p .', false)).toEqual([])
    expect(widerOf('git commit -m x', false)).toEqual(['command:git commit '])
  })

  it.each([
    ...['tsc', 'git status', 'git -C x status', 'git config a b', 'npm exec thing', 'npm run build', 'cargo build --release'],
    ...['git grep foo', 'git fetch origin', 'git ls-remote origin', 'git log -1 --stat=3', 'git clone x y', 'git archive HEAD'],
    ...['sort a', 'split a', 'flock a true', 'taskset 1 true', 'setarch x86_64 true', 'man ls', 'rg foo', 'go test ./...', 'vim a'],
    ...['bash script.sh', 'python3 x.py', 'python3.12 x.py', 'node x.js', 'env X=1 ls', 'xargs rm', 'find . -delete', 'rm -rf x'],
    ...['sudo ls', 'ssh host ls', 'npx thing x', 'docker run x', 'eval ls', './script.sh x', '/usr/bin/tsc -p .', 'ls -l && pwd'],
    ...['printf -v PATH x', 'cd sub', 'pytest x', 'constructor x', 'git constructor x'],
  ])('are not offered for %j', (command) => {
    expect(widerOf(command)).toEqual([])
  })
})

describe('what need not be asked about', () => {
  const wish = (command: string, more: Partial<CommandRequest> = {}) =>
    commandApproval({ command, stdin: undefined, isConfined: true, isPlainRepository: true, ...more })

  it.each([
    'ls',
    'cat a.txt | head -5',
    'git status',
    'git log --oneline -5',
    'git diff --stat HEAD~1',
    'grep -rn word src',
    "grep -rn '*' src",
    'cd src && ls -la',
    "printf 'a\\n'",
  ])('%j, in the sandbox; rules know its effect', (command) => {
    expect(wish(command)).toMatchObject({
      asks: false,
      keys: [{ key: expect.stringMatching(/^command:/) }, ...wish(command).keys.slice(1)],
    })
    expect(wish(command, { isConfined: false }).asks).toBeUndefined()
  })

  it.each([
    ...['rm x', 'npm test', 'ls && rm x', 'git commit -m x', 'git log --output=x', 'git diff --ext-diff', 'cat x > y', 'echo $(x)'],
    ...['find . -delete', 'sort -o x y', './ls', "git diff '--output=x'", 'git diff "--output=x"'],
    // What stands for names of files may stand for options.
    ...['git diff *', 'git diff [-]-output=package.json', 'cat ?', 'wc -l *.ts', 'cat ~/x', 'cat ~'],
    // Another repository, perhaps a planted one.
    ...['cd sub && git status', 'git -C sub status', 'pushd sub && ls'],
    // It would change which program the next word is.
    ...["test -v 'a[$(rm x)]'", 'test -v "a[\\`rm x\\`]"'],
    ...['printf -v PATH x', 'printf -v PATH x; ls', "printf '-v' PATH x", 'export PATH=x; ls', 'hash -p x ls; ls'],
  ])('but %j', (command) => {
    expect(wish(command).asks).toBeUndefined()
  })

  it('nor git, where the repository may run something, or another is meant', () => {
    expect(wish('git status', { isPlainRepository: false }).asks).toBeUndefined()
    expect(wish('git status', { folder: 'sub' }).asks).toBeUndefined()
    expect(wish('ls', { folder: 'sub' }).asks).toBe(false)
  })

  it('nor a program that the workspace has another one of', () => {
    expect(wish('ls', { ownPrograms: new Set(['ls']) }).asks).toBeUndefined()
    expect(wish('cat x', { ownPrograms: new Set(['ls']) }).asks).toBe(false)
  })
})

describe('another folder', () => {
  const inFolder = (command: string, folder: string) => commandApproval({ command, stdin: undefined, isConfined: true, folder })

  it('is another thing, which rules that ask or deny know by its own name, too', () => {
    expect(inFolder('make', 'evil')).toEqual({
      summary: 'Run make',
      keys: [{ key: 'command:(in evil) make', label: '(in evil) make', aliases: ['make'] }],
    })
    expect(inFolder('git add x', 'a b').wider).toEqual([
      { key: "command:(in 'a b') git add ", label: "(in 'a b') any git add …", isPrefix: true, aliases: ['git add '] },
    ])
    expect(inFolder('echo $X', 'evil').keys).toEqual([
      { key: 'script:(in evil) "echo $X"', label: '(in evil) exactly this: echo $X', aliases: ['"echo $X"'], isOpaque: true },
    ])
  })

  it('has no name that a plain command could have', () => {
    expect(keysOf('(in evil) make')).toEqual(['script:"(in evil) make"'])
    expect(keysOf("'(in evil)' make")).toEqual([`script:"'(in evil)' make"`])
  })

  it('that is entered on the way makes the line one thing', () => {
    expect(keysOf('cd evil && make')).toEqual(['script:"cd evil && make"'])
    expect(commandApproval({ command: 'cd evil && make', stdin: undefined, isConfined: true }).keys).toEqual([
      { key: 'script:"cd evil && make"', label: 'exactly this: cd evil && make', aliases: ['cd evil', 'make'], isOpaque: true },
    ])
  })
})
