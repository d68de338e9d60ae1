export { type SkillCatalogue, skillCatalogue } from '../../util/skill-catalogue.ts'
