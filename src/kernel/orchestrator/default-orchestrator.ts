import { join } from 'node:path'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { optionDefaults, type RegisteredAgent, readAgentText, type Setup } from '../../project/index.ts'
import { orchestratorDescription, orchestratorPrompt } from './orchestrator-definition.ts'

const text = `---
description: ${orchestratorDescription}
usage: a question or a task
tools: [ask_user, update_plan]
---
${orchestratorPrompt}
`

/** The orchestrator of a project that has no agent file for it. Defaults of the configuration apply, as to agent files. */
export function defaultOrchestrator({ config, variables, workingDirectory }: Setup): RegisteredAgent {
  const place = `${orchestratorName}.ai`
  const { agent, disabledSkills, metadata, values } = readAgentText(text, place, {
    overrides: variables,
    defaults: optionDefaults(config),
  })
  return {
    definition: { ...agent, agents: [] },
    path: join(workingDirectory, place),
    ...{ place, disabledSkills, metadata, values },
    dialect: 'troupe',
    isChild: false,
    servers: [],
    references: [],
  }
}
