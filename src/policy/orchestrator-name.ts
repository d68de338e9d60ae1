/** The agent that answers people where a project has extensions. An agent file of this name replaces the default one. */
export const orchestratorName = 'orchestrator'
