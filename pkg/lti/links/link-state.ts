import type { Ancestor } from '../../content/model/access/inherited-access.policy.ts';
import type { TargetFault } from './placed-target.policy.ts';

/** The resource link of a launch, and everything that decides which rights it gives a person. */
export interface LinkState {
  readonly title: string | null;
  /** Whether it has a target. */
  readonly isPlaced: boolean;
  readonly fault: TargetFault | null;
  /** Whether it was placed in the course of the launch, or in one that this course is a copy of. */
  readonly isOfCourse: boolean;
  /** Whether the person is a member of the course of the launch. */
  readonly isMember: boolean;
  readonly file: {
    readonly uuid: string;
    readonly name: string;
    readonly ownerId: number;
    readonly isTrashed: boolean;
    readonly ancestors: readonly Ancestor[];
  } | null;
  readonly isMakerActive: boolean;
  readonly canMakerShare: boolean;
}
