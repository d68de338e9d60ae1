import { describe, expect, it } from 'vitest'
import type { ApprovalRule } from '../../../src/contracts/index.ts'
import { ruling } from '../../../src/steps/rules.ts'
import { commandApproval } from '../../../src/tools/builtin/shell/command-approval.ts'

/** What comes of a rule in one place, where another place allows everything. */
function verdict(command: string, rule: ApprovalRule = { deny: 'shell(rm *)' }): string | undefined {
  const { keys } = commandApproval({ command, stdin: undefined, isConfined: true })
  return ruling([{ rules: [rule] }, { rules: [{ allow: 'shell' }] }], { names: ['shell'], keys })?.verdict
}

describe('a rule that denies a command holds for the command', () => {
  it.each([
    ...['rm a', '/bin/rm a', '../../bin/rm a', '\\rm a', "r''m a", 'true && rm a', 'ls; /bin/rm a'],
    ...['command rm a', 'command -p rm a', 'builtin command rm a', 'exec rm a', 'exec -a x -c rm a', 'eval rm a', "eval 'ls; rm a'"],
    ...[
      'env rm a',
      'env -i A=1 a.b=2 rm a',
      'env - rm a',
      'env -u X -C /tmp rm a',
      'env --unset=X --chdir /tmp -- rm a',
      '/usr/bin/env rm a',
    ],
    ...['timeout 5 rm a', 'timeout -k 1 -s KILL 5 rm a', 'timeout -k1 --signal=KILL --foreground 5s rm a', 'timeout 5 nice -n 3 rm a'],
    ...['nice rm a', 'nice -5 rm a', 'nice --adjustment=5 rm a', 'nohup rm a', 'setsid -w rm a', 'stdbuf -oL rm a', 'ionice -c3 rm a'],
    ...['sudo -u bob rm a', 'doas rm a', 'busybox rm a', 'taskset -c 0 rm a', 'chroot . rm a', '/usr/bin/time -f %e rm a'],
    ...['echo a | xargs rm', 'echo a | xargs -0 -n 1 -P4 rm -f', "echo a | xargs -d '\\n' nice rm", 'xargs -a list /bin/rm'],
    ...["find . -exec rm '{}' +", "find . -name a -execdir /bin/rm '{}' \\;", "find . -ok ls '{}' \\; -exec env rm '{}' \\;"],
    ...[
      'sh -c "rm a"',
      'true && sh -c "rm a"',
      'bash -xec "ls; rm a" name',
      'bash --norc -o pipefail -c "rm a"',
      'env bash -c "nice rm a"',
    ],
    ...["trap 'rm a' EXIT", "trap -- 'rm a' EXIT", 'cd x && timeout 5 rm a', "echo x | xargs sh -c 'rm a'", "xargs -I X rm 'X'"],
  ])('%s', (command) => {
    expect(verdict(command)).toBe('deny')
  })
})

describe('what cannot be understood is asked about', () => {
  it.each([
    ...['echo rm a | sh', 'echo rm a | bash -s', 'echo rm a | sh -', 'sh /dev/stdin', 'bash +x -c "rm a"', 'bash -oc pipefail "rm a"'],
    ...["true && sh -c 'rm $X'", 'true; eval "r*"', 'env -S "rm a"', 'timeout --new-option 5 rm a', 'nice -n 5 [r]m a', 'env r? a'],
    ...[
      'echo rm | xargs -I X X a',
      'echo rm a | xargs env',
      'echo "rm a" | xargs -0 sh -c',
      'echo rm a | xargs eval',
      'xargs --replace rm x',
    ],
    ...["find . -exec '{}' a \\;", "find . -exec sh -c 'rm $0' '{}' \\;", 'flock x rm a', 'watch rm a', 'su -c "rm a"', 'sudo -s'],
    ...["test -v 'a[$(rm a)]'", "unset 'a[$(rm a)]'", '/lib64/ld-linux-x86-64.so.2 /bin/rm a', 'compgen -C "rm a"', 'jobs -x rm a'],
    ...['echo $(rm a)', 'FOO=1 rm a', '(rm a)', 'time rm a', `${'nice '.repeat(20)}rm a`],
  ])('%s', (command) => {
    expect(verdict(command)).toBe('ask')
  })

  it('also where it is only known how it begins, and a rule may be about that', () => {
    expect(verdict('echo x | xargs rm', { deny: 'shell(rm -rf *)' })).toBe('ask')
    expect(verdict('echo x | xargs rm', { ask: 'shell(rm -rf *)' })).toBe('ask')
    expect(verdict('echo x | xargs rm x', { deny: 'shell(rm -rf *)' })).toBe('allow')
  })
})

describe('what is understood and is something else is let through', () => {
  it.each([
    ...['ls', 'git rm a', 'env', 'env A=1', 'nice', 'command -v rm', 'exec', 'timeout 5 ls', 'ls | xargs wc -l', 'find . -name rm'],
    ...["find . -exec wc -l '{}' +", 'sh script.sh', 'bash -x script.sh rm', "bash -c 'ls && pwd'", 'trap - EXIT', 'trap -p', 'echo rm a'],
    ...['python3 x.py', 'make', 'xargs', 'printf rm', "eval ''", 'rmdir a', 'timeout 5 /bin/rmdir a'],
  ])('%s', (command) => {
    expect(verdict(command)).toBe('allow')
  })
})

it('what lets the inner command through is no rule for the outer one', () => {
  const { keys } = commandApproval({ command: 'nice ls -l', stdin: undefined, isConfined: true })
  expect(keys).toEqual([{ key: 'command:nice ls -l', label: 'nice ls -l', aliases: ['ls -l'] }])
  expect(ruling([{ rules: [{ allow: 'shell(ls *)' }] }], { names: ['shell'], keys })).toBeUndefined()
})

it('a shell that only passes a line on is known by its own name, too', () => {
  expect(verdict("bash -c 'ls'", { deny: 'shell(bash *)' })).toBe('deny')
  expect(verdict("/bin/sh -c 'bash -c ls'", { ask: 'shell(bash *)' })).toBe('ask')
})
