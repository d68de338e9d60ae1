import { type SectionName, sectionNames } from './sections.ts'

/** A section in words. */
export interface SectionWords {
  readonly summary: string
  /** What trust lets a project do with it; nothing where everything in it counts without. */
  readonly power?: string
}

const standIn = 'read variables, or let a script stand in for a model'
const overModels = `say which models are asked where you have said it yourself, ${standIn}`

export const sectionWords: { readonly [Name in SectionName]: SectionWords } = {
  agents: {
    summary: 'files, folders and patterns of agents that others may name, relative to this file',
    power: 'use agents from outside of its folder, or found through variables',
  },
  providers: { summary: 'where models are, and how to be let in', power: 'say where requests and keys are sent' },
  models: { summary: 'other names for models', power: overModels },
  mcpServers: { summary: 'servers that offer tools', power: 'start programs, and reach servers' },
  defaults: {
    summary: 'settings for agents that do not say them themselves',
    power: `${overModels}; go beyond your own limits`,
  },
  queues: {
    summary: 'how much of something may happen at once, and in a minute, over all runs of a process',
    power: 'go beyond your own limits',
  },
  pricing: {
    summary: 'prices of models, in US dollars for a million tokens',
    power: 'say what models cost, and so what a limit of costs means',
  },
  unpriced: {
    summary: 'models without a price that may be asked under a limit of costs all the same, as agents name them',
    power: 'ask models that a limit of costs does not reach',
  },
  childrenOffered: {
    summary: 'whether an agent has each agent that it may call as a tool, or a directory of them; left out: a directory beyond ten',
  },
  features: { summary: 'switches that tools may ask for' },
  approvals: {
    summary: 'what agents may do without asking, and what not at all; the strictest layer counts',
    power: 'say what agents may do without asking',
  },
  sandbox: {
    summary: 'what programs that agents start may reach; the strictest layer counts',
    power: 'say what programs may reach, or that they run without walls',
  },
  hooks: { summary: "programs that look at what happens, or change it; every layer's are asked", power: 'run programs' },
  skills: {
    summary: 'where else skills are looked for, and which are switched off; what any layer says counts',
    power: 'offer skills from further folders',
  },
  context: { summary: 'what every session is told at its beginning; what one layer switches off stays off' },
  headends: { summary: 'ways in for others', power: 'let others in' },
  slack: { summary: 'a channel in Slack', power: 'let others in' },
  store: { summary: 'where journals are kept', power: 'say where journals are written' },
  telemetry: { summary: 'where traces are sent', power: 'send elsewhere what happens' },
}

/** What trust lets a part do that a configuration withholds, as `PendingFile.withheld` names it. */
export function powerOf(withheld: string): string | undefined {
  if (withheld.startsWith('variables ')) return 'set keys, addresses and whatever else its variables are used for'
  const section = sectionIn(withheld)
  return section && sectionWords[section].power
}

const sectionIn = (withheld: string): SectionName | undefined =>
  sectionNames.find((name) => withheld.startsWith(name) && /^(?:$|[.[,])/.test(withheld.slice(name.length)))

/** They can be many, and neither run anything nor send anything to somebody new. */
const small: ReadonlySet<SectionName | undefined> = new Set(['models', 'defaults', 'queues', 'pricing', 'unpriced', 'features'])

/** Whether such a part runs something, opens something or says where things are sent: nobody can decide without seeing all of it. */
export const isDecisive = (withheld: string): boolean => !small.has(sectionIn(withheld))
