import { relative, resolve } from 'node:path'
import {
  type Approver,
  type InteractionEvent,
  localPrincipal,
  type RunOrigin,
  type SessionEntry,
  type SkillCard,
  TroupeError,
} from '../../../contracts/index.ts'
import {
  dataDirFlag,
  dataDirOf,
  flagWords,
  isAboutTrust,
  openRuntime,
  originIn,
  type Project,
  realPath,
  resumeHint,
  sentenceOf,
} from '../../../project/index.ts'
import { redactor } from '../../../util/redact.ts'
import { typedWord } from '../../../util/typed-word.ts'
import type { ChatInvocation } from '../../arguments/chat-invocation.ts'
import type { Host } from '../../terminal/process-host.ts'
import { chooseApprover } from '../asking/terminal-approver.ts'
import { promptCommand, readServerPrompt } from '../mcp/server-prompt.ts'
import { missingDenials } from '../run/resumed-run.ts'
import { findSession } from '../sessions/find-session.ts'
import { loadTrustedProject } from '../trust/load-trusted-project.ts'
import type { ChatService } from './chat-service.ts'
import { namesFile } from './conversation.ts'

/** The sessions of the project in this folder, driven by this process. `asksPerson`: whether the chat shows requests. */
export async function openLocalSessions(invocation: ChatInvocation, host: Host, asksPerson: boolean): Promise<ChatService> {
  const { agent, models, configFile, dataDir, allow, deny, isTrusted } = invocation
  const file = namesFile(agent) ? agent : undefined
  const settings = file === undefined || models.length === 0 ? undefined : { settings: [], models }
  const report = await loadTrustedProject(
    { cwd: host.cwd, env: host.env, agents: file, configFile, ...(settings && { settings }) },
    { host, isTrusted, storesTrust: true },
  )
  if (report.ok && report.registry.ok && report.registry.agents.length === 0)
    throw new TroupeError('usage', 'There is no agent in this folder.', {
      remedy: 'Create a sample project: troupe init. Or start the bundled assistant: troupe up',
    })
  const project = await report.open({ dataDir, allow, deny, otherModels: models })
  requireOffered(project, agent)
  const store = await project.openStore()
  let shown: string | undefined
  const approver = asksPerson ? { decide: () => 'wait' as const, isInLine: (id: string) => id !== shown } : withoutPerson(host, project)
  const opened = openRuntime(project, { store, origin: originOf(project, invocation), clock: host, approver })
  const { runtime } = opened
  const { sessions } = runtime
  const { workspace, folder } = project
  const place = { folder, dataDir: dataDirOf(folder, host.env) }
  return {
    sessions: { ...sessions, start: (input, options) => sessions.start(input, { principal: localPrincipal, ...options }) },
    workspace,
    dataFolder: folder,
    redact: redactor(project.adapter.secrets ?? {}).text,
    models: [],
    notices: [...project.notices, ...project.diagnostics.filter((each) => !isAboutTrust(each)).map(sentenceOf)],
    warnings: project.diagnostics.filter(isAboutTrust).map(sentenceOf),
    async checkModel(name) {
      await project.adapter.resolve(name)
    },
    skills: ({ name }) => skillsOf(project, name),
    shows(id) {
      shown = id
    },
    async open(id) {
      const { treeId, status } = await findSession(store, id, place)
      const [first] = await store.journal.read(treeId, 0, 1)
      const origin = originIn(first)
      requireSameTerms(first, { run: { treeId, status }, workspace, deny, place })
      // As a server does: a session of another command keeps its definitions.
      const handle = await runtime.open(treeId, origin?.command === 'chat' ? {} : { definitions: 'pin' })
      await handle[Symbol.asyncIterator]().return?.()
      return (await sessions.get(treeId)) as SessionEntry
    },
    recent: (limit) => sessions.list({ workspace, limit }),
    prompt: ([name = '', ...args]) => readServerPrompt({ name, args, syntax: promptCommand }, report, host),
    continueCommand: (id) =>
      resumeHint(
        { run: { treeId: id as SessionEntry['sessionId'], status: 'suspended' }, origin: { ...originOf(project, invocation), workspace } },
        { here: workspace, ...place },
      ),
    async close() {
      await opened.close()
      await project.close()
    },
  }
}

/** Agents that others call are offered by file only. */
function requireOffered({ agents, served, workspace }: Project, agent: string | undefined): void {
  const called = agents.find(({ definition: { name } }) => name === agent && !served.includes(name))
  if (!called) return
  throw new TroupeError('agent_unknown', `Other agents call ${agent}: it is not offered by its name.`, {
    remedy: `Name its file: troupe chat ${typedWord(relative(workspace, called.path))}`,
  })
}

function skillsOf({ config, agents }: Project, agent: string): readonly SkillCard[] {
  const names = agents.find(({ definition }) => definition.name === agent)?.definition.skills ?? []
  return Array.isArray(config.skills) ? config.skills.filter(({ name }: SkillCard) => names.includes(name)) : []
}

/** As `troupe run` decides without a terminal. */
const withoutPerson = (host: Host, { onUnavailable }: Project): Approver =>
  chooseApprover({ ...host, isSeen: false, window: 'plain' }, onUnavailable)

/** What a later command needs. It is stored, so secrets are redacted. */
function originOf({ adapter, agents, served }: Project, { agent, configFile, allow, deny }: ChatInvocation): Omit<RunOrigin, 'workspace'> {
  const { text } = redactor(adapter.secrets ?? {})
  const only = served.length === 1 ? agents.find(({ definition }) => definition.name === served[0])?.path : undefined
  const file = namesFile(agent) ? agent : only
  const named = (name: string, values: readonly string[]) => values.map((value) => ({ name, value: text(value) }))
  const flags = [
    ...named('config', configFile === undefined ? [] : [resolve(configFile)]),
    ...named('allow', allow),
    ...named('deny', deny),
  ]
  return { command: 'chat', ...(file !== undefined && { agentFile: realPath(file) }), ...(flags.length > 0 && { flags }) }
}

interface Terms extends Pick<ChatInvocation, 'deny'> {
  readonly run: Parameters<typeof resumeHint>[0]['run']
  readonly workspace: string
  readonly place: { readonly folder: string; readonly dataDir: string | undefined }
}

/** A session keeps its folder and what it was denied. */
function requireSameTerms(first: InteractionEvent | undefined, { run, workspace, deny, place }: Terms): void {
  const origin = originIn(first)
  if (!origin) return
  const { treeId } = run
  if (origin.workspace !== workspace)
    throw new TroupeError('usage', `Session ${treeId} belongs to the folder ${origin.workspace}, but you are in ${workspace}.`, {
      remedy: `Continue it there: cd ${typedWord(origin.workspace)} && troupe chat --resume ${treeId}${dataDirFlag(place.dataDir)}`,
    })
  const missing = missingDenials(origin.flags ?? [], { deny })
  if (missing.length === 0) return
  const words = flagWords(missing.map((value) => ({ name: 'deny', value })))
  throw new TroupeError('usage', `The session ${treeId} was started with more --deny patterns: ${missing.join(', ')}.`, {
    remedy: `Repeat them: troupe chat --resume ${treeId}${dataDirFlag(place.dataDir)} ${words.join(' ')}`,
  })
}
