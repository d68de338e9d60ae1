/** The files that `troupe init` creates, by path. The project runs without a key or a network. */
export const projectFiles: { readonly [path: string]: string } = {
  '.ai-agent.json': `{
  "agents": ["./agents"],
  "defaults": { "models": "rehearsal" }
}
`,
  'trip.ai': `#!/usr/bin/env troupe
---
description: Plans a weekend trip with a scout and a writer
usage: a city and your interests
agents: [scout, writer]
limits: { maxToolTurns: 6, timeBudget: 2m }
---
You plan weekend trips. Ask the scout for the sights of the city, then ask the writer for a plan.
Answer with the plan in a few sentences.
`,
  'agents/scout.ai': `---
description: Finds the sights of a city
usage: the name of a city
output:
  format: json
  schema:
    type: object
    properties:
      city: { type: string }
      sights: { type: array, items: { type: string } }
    required: [city, sights]
---
Name up to three sights of the city.
`,
  'agents/writer.ai': `---
description: Writes a weekend plan from a list of sights
usage: the sights and the interests of the travellers
output: { format: markdown }
---
Write a plan for Saturday and Sunday, two sentences each.
`,
  'notes.ai': `#!/usr/bin/env troupe
---
description: Manages the notes in this folder
usage: a question about the notes, or a note to write
tools: [list_files, search_files, read_file, write_file]
limits: { maxToolTurns: 8 }
---
You manage the notes in the folder notes. Search before you answer, and name the file of every fact.
Write each new note to its own file in that folder.
`,
  'notes/bergen.md': `# Bergen

Seven mountains surround the city. The funicular to Fløyen takes six minutes.
`,
  '.gitignore': `# API keys
.ai-agent.env
`,
  'README.md': `# Agents

    troupe run trip.ai "Ask the scout for sights in Bergen, then ask the writer for a weekend plan"

    troupe run notes.ai "Search the files for funicular"
    troupe run notes.ai "Write the file notes/oslo.md with the content: Oslo has a fjord"

Troupe asks before an agent writes a file. \`--allow write_file\` approves it in advance; \`troupe approvals list\` shows
the approvals for this project.

The model is \`rehearsal\`. It is not an LLM and needs no key and no network. To use a provider:

1. Put a key into \`.ai-agent.env\`: \`ANTHROPIC_API_KEY=…\`
2. Run \`troupe trust .ai-agent.env\`.
3. Set \`defaults.models\` in \`.ai-agent.json\` to \`auto\` or to the name of a model.

More commands:

- \`troupe validate\` checks every file.
- \`troupe agents list\` lists the agents.
- \`troupe doctor\` finds problems.
- \`troupe help agent-file\` explains every setting.
`,
}
