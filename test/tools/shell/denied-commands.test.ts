import { describe, expect, it } from 'vitest'
import type { ApprovalRule } from '../../../src/contracts/index.ts'
import { ruling } from '../../../src/steps/approval/rules.ts'
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
    ...["rbash -c 'rm a'", 'mksh -c "rm a"', '/bin/rbash -c "nice rm a"', 'choom -n 0 rm a', 'choom -n 0 -- nice rm a', 'gtimeout 5 rm a'],
    ...['prlimit --nofile=10 rm a', 'setpriv --reuid 0 --nnp rm a', 'unshare -rm --fork rm a', 'linux64 -R rm a', 'fakeroot rm a'],
    ...[
      'dbus-run-session -- rm a',
      'pkexec rm a',
      'chronic rm a',
      'ifne -n rm a',
      'coreutils rm a',
      'ccache rm a',
      'ccache a=b rm a',
      'zsh-5.9 -c "rm a"',
      'eatmydata rm a',
      'toybox nice rm a',
    ],
    ...['npx -y rm a', 'npm exec -- rm a', 'npm x rm a', 'uv run rm a', 'bundle exec rm a', 'poetry run rm a', 'yarn exec rm a'],
    ...['find . -delete', 'find . -name x -delete', "env X='a b' rm a", 'echo a | xargs choom -n 0 rm', 'gfind . -exec rm x +'],
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
    // What is read becomes what is run.
    ...[
      'echo rm x | xargs xargs',
      'echo rm x | xargs xargs -n 1',
      'echo rm x | xargs timeout 5 xargs',
      'xargs -I X xargs',
      'echo x | rbash',
    ],
    ...["printf '%s\\n' -exec rm '{}' ';' | xargs find x", "echo 'rm x' | rbash", "echo 'rm a' | sh ../../dev/stdin", 'sh //dev//stdin'],
    ...['sh /dev/std?n', 'sh /proc/self/fd/0', "find /bin/rm -exec nice '{}' x ';'", "find /bin/rm -exec env A=1 '{}' x ';'"],
    ...['find . -e* rm x +', 'xargs choom -n 0', 'xargs git', 'xargs python3', 'xargs tar cf x', 'xargs awk', 'xargs sed -n 5p'],
    ...[
      "echo x | find /dev/stdin -exec bash '{}' ';'",
      "find x -exec awk -f '{}' ';'",
      "find x -exec make -f '{}' ';'",
      'echo x | bash5.2',
    ],
    // Lines and pieces of programs.
    ...['pypy3 -c x', 'python3.12d -c x', 'vim.tiny -c x', 'nc.openbsd -e x', '/usr/lib/git-core/git-rebase -x "rm a"', 'ocaml -e x'],
    ...['parallel rm ::: a', 'pee "rm a"', 'script -c "rm a"', 'strace rm a', 'gdb --args rm a', 'systemd-run rm a', 'chrt 1 rm a'],
    ...['sg root "rm a"', 'entr rm a', 'ssh host rm a', 'nc -e "rm a" host 1', 'socat - "EXEC:rm a"', 'tmux new "rm a"', 'at now'],
    ...[
      'awk \'BEGIN{system("rm a")}\'',
      `awk '{print | "rm a"}' x`,
      `gawk 'BEGIN{"rm a" | getline}'`,
      'awk -f -',
      'awk --source=x',
      'awk -f /dev/stdin',
    ],
    ...["sed '1e rm a' x", 'sed 1erm x', "sed 's/x/rm a/e' x", "sed -n 's/x/rm a/gep' x", "sed x -e '1e rm a'", 'sed -f x.sed x'],
    ...[
      'perl -e "unlink 1"',
      'perl -ne x y',
      "python3 -c 'import os'",
      'python3 -',
      'echo x | python3',
      'python3.12 -m timeit x',
      'node -e x',
    ],
    ...[
      'node --eval=x',
      'node -pe x',
      'node -r x y.js',
      'ruby -e x',
      'php -r x',
      'lua -e x',
      'deno eval x',
      'bun -e x',
      'bun run rm a',
      'fish -c x',
    ],
    ...['vim -c "!rm a"', 'ex x', 'echo "!rm a" | ed', 'less x', 'man -P "rm a" x', 'sqlite3 x ".shell rm a"', 'tclsh x', 'dc x'],
    // Options with a command.
    ...["git -c alias.x='!rm a' x", "git config alias.x '!rm a'", 'git -C x config --global core.pager "rm a"', 'git bisect run rm a'],
    ...[
      'git rebase -x "rm a" main',
      'git rebase --exec="rm a"',
      'git rebase --ex "rm a"',
      'git submodule --quiet foreach rm a',
      'git grep -O"rm a" x',
    ],
    ...['git fetch --upload-pack="rm a"', 'git clone -u "rm a" x', 'git clone "ext::rm a"', 'git difftool -x "rm a"', 'git -[c] a=b x'],
    ...['tar cf x --to-command="rm a"', 'tar xf x --checkpoint-action=exec=rm', 'tar cf x -I "rm a" y', 'tar cIf "rm a" x', 'tar cf x *'],
    ...["make --eval='x:;rm a'", 'make SHELL=./x', "make CC='rm a'", 'make -f -', 'make -f /dev/stdin', 'npm pkg set scripts.x="rm a"'],
    ...[
      'npm exec -c "rm a"',
      'npx -c "rm a"',
      'npx --yes true rm a',
      'npm run x --script-shell=y',
      'npm exe rm',
      'yarn exec "rm a"',
      'npm -w test exec rm a',
      'go test -exec "rm a"',
    ],
    ...['sort --compress-program=rm x', 'split --filter="rm a" x', 'rsync -ae "rm a" x y', 'rg --pre rm x', 'fd -x rm', 'uv -q run rm a'],
    ...[
      "env BASH_ENV='$(rm a)' bash x",
      'env GIT_SSH_COMMAND=x git fetch',
      "env CC='rm a' make",
      'env PAGER=x git log',
      'ip netns exec x rm a',
    ],
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

it('what find deletes is what rm does, and nothing else', () => {
  expect(verdict('find . -delete', { deny: 'shell(rm -rf *)' })).toBe('ask')
  expect(verdict('find . -delete', { deny: 'shell(git push*)' })).toBe('allow')
})

describe('other understood commands are allowed', () => {
  it.each([
    ...['ls', 'git rm a', 'env', 'env A=1', 'nice', 'command -v rm', 'exec', 'timeout 5 ls', 'ls | xargs wc -l', 'find . -name rm'],
    ...["find . -exec wc -l '{}' +", 'sh script.sh', 'bash -x script.sh rm', "bash -c 'ls && pwd'", 'trap - EXIT', 'trap -p', 'echo rm a'],
    ...[
      'python3 -u x.py -c x',
      'python3 -m pytest -x -k a',
      'node x.js -e',
      'node --test test/',
      'perl x.pl -e',
      'ruby x.rb',
      'node --version',
    ],
    ...[
      "awk -F'|' '{print $1}' x",
      "awk -F '|' '$1 == 2 || $2 {print}' x",
      "sed -n '1,5p' entry.txt",
      "sed -i 's/a/b e/g' x",
      'sed -E s,a/b,c, x e',
    ],
    ...['git status', 'git -C x log --oneline', 'git commit -m "x e"', 'git ls-files --exclude-standard', 'git config --get user.name'],
    ...[
      'git add config',
      "find . -exec sort '{}' +",
      "find . -exec sed -i s/a/b/ '{}' +",
      './script.sh',
      'pdflatex x.tex',
      'ccache gcc x.c',
      'git commit -m "fix config of bisect run"',
      'git add *.ts',
      'echo x | xargs python3 x.py',
      'python3 x.py *',
      'tar czf x.tgz src LICENSE',
      'tar -xzf x.tgz -C y --strip-components=1',
      'tar cf - x',
      'make -j4 test',
      'make PREFIX=/usr',
    ],
    ...[
      'npm test',
      'npm ci',
      'npm run build -- --call',
      'npx -y tsc -p .',
      'npx vitest run',
      'uv sync',
      'uv run pytest -x',
      'cargo test',
      'go test ./...',
    ],
    ...[
      'sort -u x',
      'rsync -av --delete x y',
      'env NODE_ENV=test npm test',
      'choom -p 1',
      'prlimit --pid 1',
      'find . -name *.ts',
      'choom -n 0 ls',
    ],
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
