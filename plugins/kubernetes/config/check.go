// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "fmt"

// Stages names the stages for a single cluster.
func Stages() []string {
	return []string{
		StageSync, StagePrimaryRollout, StageCanaryRollout, StageCanaryClean,
		StageBaselineRollout, StageBaselineClean, StageTrafficRouting, StageTest, StageRollback, StageRemove,
	}
}

// CheckOptions checks the `with` of a stage of a pipeline.
func CheckOptions(stage string, with []byte) (err error) {
	switch stage {
	case StageSync:
		_, err = DecodeSync(with, &Application{})
	case StagePrimaryRollout:
		_, err = DecodePrimary(with)
	case StageCanaryRollout:
		_, err = DecodeCanary(with)
	case StageBaselineRollout:
		_, err = DecodeBaseline(with)
	case StageTrafficRouting:
		_, err = DecodeTraffic(with)
	case StageCanaryClean, StageBaselineClean, StageTest:
	case StageRollback:
		err = fmt.Errorf("%s runs by itself when a deployment fails; take it out of the pipeline "+
			"(planner.autoRollback switches it)", stage)
	case StageRemove:
		err = fmt.Errorf("%s deletes all that the application has deployed; take it out of the pipeline, and delete "+
			"the application in Git to remove it", stage)
	}
	return err
}
