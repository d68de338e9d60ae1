import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Ground } from './ground.ts'

/** What an attempt may use. */
export interface Scene extends Ground {
  /** The port of a server that counts who connects. */
  readonly port: number
  readonly udpPort: number
  readonly socket: string
  readonly abstractSocket: string
  /** A process that somebody may want to end. */
  readonly victim: number
  reached(): boolean
}

export interface Attempt {
  readonly name: string
  readonly needs?: readonly string[]
  /** It prints `OUT` where it escaped. */
  readonly command: (scene: Scene) => string
  /** What it prints where it was refused for the right reason. */
  readonly says?: string
  /** Looks from outside. */
  readonly isOut?: (scene: Scene) => boolean
  /** Without a sandbox it escapes: the attempt is a real one, and harmless enough to show that. */
  readonly control?: boolean
}

const node = (source: string): string => `${JSON.stringify(process.execPath)} -e ${quoted(source)}`
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
const then = ' && echo OUT'
const exists = (path: string): boolean => existsSync(path)
const unchanged = (file: string, text: string): boolean => existsSync(file) && readFileSync(file, 'utf8') === text
const tampered = ({ outside }: Scene): boolean => !unchanged(join(outside, 'secret'), 'SECRET-OUTSIDE\n')

const files: readonly Attempt[] = [
  {
    name: 'write outside',
    command: ({ outside }) => `echo x > ${outside}/a${then}`,
    isOut: ({ outside }) => exists(join(outside, 'a')),
    control: true,
  },
  {
    name: 'write through a symbolic link',
    command: ({ outside }) => `ln -s ${outside} way; echo x > way/b${then}`,
    isOut: ({ outside }) => exists(join(outside, 'b')),
    control: true,
  },
  {
    name: 'write through a link in /tmp',
    command: ({ outside }) => `ln -s ${outside} /tmp/way-$$; echo x > /tmp/way-$$/c${then}; rm -f /tmp/way-$$`,
    isOut: ({ outside }) => exists(join(outside, 'c')),
  },
  {
    name: 'make a hard link and write to it',
    command: ({ outside }) => `ln ${outside}/secret hard && echo x >> hard${then}`,
    isOut: tampered,
  },
  {
    name: 'leave by ..',
    command: ({ outside }) => `echo x > ../../../../../../..${outside}/d${then}`,
    isOut: ({ outside }) => exists(join(outside, 'd')),
    control: true,
  },
  { name: 'move a file away', command: ({ outside }) => `mv ${outside}/secret ${outside}/gone${then}`, isOut: tampered },
  { name: 'remove a file', command: ({ outside }) => `rm ${outside}/secret${then}`, isOut: tampered },
  { name: 'change rights', command: ({ outside }) => `chmod 777 ${outside}/secret${then}` },
  { name: 'remount read-only away', needs: ['mount'], command: () => `mount -o remount,rw /${then}` },
  {
    name: 'write to the system',
    command: () => `touch /etc/troupe-was-here${then}; touch /usr/bin/troupe-was-here${then}; touch /troupe-was-here${then}`,
    isOut: () => exists('/etc/troupe-was-here') || exists('/usr/bin/troupe-was-here') || exists('/troupe-was-here'),
  },
  { name: 'plant a library for every program', command: () => `touch /etc/ld.so.preload${then}` },
  {
    name: 'write by /proc/1/root',
    command: ({ outside }) => `echo x > /proc/1/root${outside}/e${then}`,
    isOut: ({ outside }) => exists(join(outside, 'e')),
  },
  {
    name: 'write by /proc/1/cwd',
    command: ({ outside }) => `echo x > /proc/1/cwd/../../../../../..${outside}/f${then}`,
    isOut: ({ outside }) => exists(join(outside, 'f')),
  },
  { name: 'write to the program of process 1', command: () => `(exec 3>>/proc/1/exe)${then}` },
  { name: 'fill the devices folder', command: () => `touch /dev/x${then}; touch /run/x${then}; touch /home/x${then}` },
  { name: 'read keys at home', command: ({ home }) => `cat ${home}/.ssh/id_rsa${then}`, control: true },
  { name: 'search the home folder', command: ({ home }) => `grep -rq SECRET-OF-HOME ${home}${then}`, control: true },
  { name: 'read the data folder', command: ({ data }) => `cat ${data}/journal.sqlite${then}`, control: true },
  { name: 'read the keys of providers', command: () => `grep -q SECRET-OF-PROVIDER .ai-agent.env${then}`, control: true },
  { name: 'read the keys of providers below', command: () => `cat docs/.ai-agent.env | grep -q SECRET-OF-PROVIDER${then}`, control: true },
  { name: 'read passwords of the system', command: () => `grep -q '^root:' /etc/shadow${then}` },
  { name: 'read host keys', command: () => `ls /etc/ssh/*key 2>/dev/null${then}; ls /etc/ssl/private/* 2>/dev/null${then}` },
]

const plants: readonly Attempt[] = [
  {
    name: 'write a hook',
    command: () => `echo evil > .git/hooks/pre-commit${then}`,
    isOut: ({ workspace }) => exists(join(workspace, '.git/hooks/pre-commit')),
  },
  { name: 'change a hook', command: () => `echo evil >> .git/hooks/pre-push${then}` },
  {
    name: 'change the settings of git',
    command: () => `echo evil >> .git/config${then}`,
    isOut: ({ workspace }) => !unchanged(join(workspace, '.git/config'), '[core]\n'),
  },
  {
    name: 'put another config in its place',
    command: () => `echo evil > c && mv -f c .git/config${then}`,
    isOut: ({ workspace }) => !unchanged(join(workspace, '.git/config'), '[core]\n'),
  },
  {
    name: 'put another repository in its place',
    command: () => `mv .git old-git && mkdir .git && echo evil > .git/config${then}`,
    isOut: ({ workspace }) => !unchanged(join(workspace, '.git/config'), '[core]\n'),
  },
  {
    name: 'change our own settings',
    command: () => `echo evil > .ai-agent.json${then}; rm -f .ai-agent.json${then}`,
    isOut: ({ workspace }) => !unchanged(join(workspace, '.ai-agent.json'), '{}\n'),
  },
  {
    name: 'change what a link leads to',
    command: () => `echo evil > editor/tasks.json${then}`,
    isOut: ({ workspace }) => exists(join(workspace, 'editor/tasks.json')),
  },
  {
    name: 'change a repository inside',
    command: () =>
      `echo evil >> vendor/lib/.git/config${then}; echo evil > vendor/lib/.git/hooks/pre-commit${then}; mv vendor/lib/.git vendor/lib/old${then}`,
    isOut: ({ workspace }) => !unchanged(join(workspace, 'vendor/lib/.git/config'), '[core]\n'),
  },
]

const network: readonly Attempt[] = [
  {
    name: 'reach a port of this machine',
    command: ({ port }) =>
      node(
        `require('net').connect(${port}, '127.0.0.1').on('connect', () => { console.log('OUT'); process.exit() }).on('error', () => {})`,
      ),
    isOut: ({ reached }) => reached(),
    control: true,
  },
  {
    name: 'ask for a name',
    command: ({ udpPort }) =>
      node(
        `const r = new (require('dns').Resolver)({ timeout: 300, tries: 1 }); r.setServers(['127.0.0.1:${udpPort}']); r.resolve4('example.com', (e) => { if (e?.code === 'ENOTFOUND' || e?.code === 'ESERVFAIL') console.log('OUT') })`,
      ),
    isOut: ({ reached }) => reached(),
    control: true,
  },
  {
    name: 'call an abstract socket',
    command: ({ abstractSocket }) =>
      node(
        `require('net').connect('\\0${abstractSocket}').on('connect', () => { console.log('OUT'); process.exit() }).on('error', () => {})`,
      ),
    isOut: ({ reached }) => reached(),
    control: true,
  },
  {
    name: 'call a socket in a folder that is seen',
    command: ({ socket }) =>
      node(`require('net').connect('${socket}').on('connect', () => { console.log('OUT'); process.exit() }).on('error', () => {})`),
    isOut: ({ reached }) => reached(),
    control: true,
  },
  {
    name: 'call a socket that was bound by a relative name',
    command: ({ outside }) =>
      node(
        `require('net').connect('${outside}/relative.sock').on('connect', () => { console.log('OUT'); process.exit() }).on('error', () => {})`,
      ),
    control: true,
  },
  {
    name: 'call a socket that another program has created in the workspace',
    command: () =>
      node(`require('net').connect('late.sock').on('connect', () => { console.log('OUT'); process.exit() }).on('error', () => {})`),
    isOut: ({ reached }) => reached(),
    control: true,
  },
  { name: 'find the sockets of services', command: () => `[ -n "$(ls -A /run)" ]${then}; [ -S /var/run/docker.sock ]${then}` },
  {
    name: 'find an interface',
    command: () => node(`if (Object.keys(require('os').networkInterfaces()).some((name) => name !== 'lo')) console.log('OUT')`),
  },
]

const processes: readonly Attempt[] = [
  { name: 'see processes outside', command: ({ victim }) => `kill -0 ${victim}${then}`, control: true },
  {
    name: 'end a process outside',
    command: ({ victim }) => `kill -9 ${victim}${then}; kill -9 -1`,
    isOut: ({ victim }) => !exists(`/proc/${victim}`),
  },
  {
    name: 'read the environment of others',
    command: () => `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -q TROUPE_ESCAPE_SECRET${then}`,
    control: true,
  },
  { name: 'find a secret in its own environment', command: () => `env | grep -q TROUPE_ESCAPE_SECRET${then}` },
  {
    name: 'keep a capability',
    command: () => `grep -q 'CapEff:.*[1-9a-f]' /proc/self/status${then}; grep -q 'CapBnd:.*[1-9a-f]' /proc/self/status${then}`,
  },
  {
    name: 'gain rights by a program that has them',
    command: () =>
      `grep -q 'NoNewPrivs:.0' /proc/self/status${then}; cp /bin/sh own && chmod 4755 own && ./own -c 'grep -q "CapEff:.*[1-9a-f]" /proc/self/status'${then}`,
  },
  {
    name: 'leave a program with the setuid bit',
    command: () =>
      `cp /bin/sh left; chmod u+s left${then}; chmod g+s left${then}; install -m 4755 /bin/sh installed${then}; cp left kept; (umask 0; perl -e 'use Fcntl; sysopen(F, "opened", O_CREAT | O_WRONLY, 06755) and print "OUT\n"')`,
    isOut: ({ workspace }) =>
      ['left', 'installed', 'opened'].some(
        (name) => ((statSync(join(workspace, name), { throwIfNoEntry: false })?.mode ?? 0) & 0o6000) !== 0,
      ),
  },
  {
    name: 'leave a core',
    command: ({ outside }) => `sh -c 'kill -SEGV $$'; [ "$(ulimit -c)" != 0 ]${then}; ls ${outside}/core* 2>/dev/null${then}`,
  },
  {
    name: 'watch the home folder',
    command: ({ home }) => node(`require('fs').watch('${home}/.ssh'); console.log('OUT'); process.exit()`),
    control: true,
  },
]

export const shellAttempts: readonly Attempt[] = [...files, ...plants, ...network, ...processes]
