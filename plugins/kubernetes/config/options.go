// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

// StageOptions returns a value of the type of each stage's options, by the name of the stage, for the schema of the
// plugin. K8S_ROLLBACK and K8S_REMOVE are not among them: no pipeline has them.
func StageOptions() map[string]any {
	return map[string]any{
		StageSync: SyncOptions{}, StagePrimaryRollout: PrimaryOptions{},
		StageCanaryRollout: CanaryOptions{}, StageCanaryClean: struct{}{},
		StageBaselineRollout: BaselineOptions{}, StageBaselineClean: struct{}{},
		StageTrafficRouting: trafficOptions{}, StageTest: struct{}{},
	}
}

// The options of the stages for many clusters: those of the stage for one, and where it runs.
type (
	multiSyncOptions struct {
		SyncOptions
		MultiOptions
	}
	multiPrimaryOptions struct {
		PrimaryOptions
		MultiOptions
	}
	multiCanaryOptions struct {
		CanaryOptions
		MultiOptions
	}
	multiBaselineOptions struct {
		BaselineOptions
		MultiOptions
	}
	multiTrafficOptions struct {
		trafficOptions
		MultiOptions
	}
	multiOnlyOptions struct{ MultiOptions }
)

// MultiStageOptions is StageOptions of the plugin for many clusters.
func MultiStageOptions() map[string]any {
	return map[string]any{
		MultiName(StageSync): multiSyncOptions{}, MultiName(StagePrimaryRollout): multiPrimaryOptions{},
		MultiName(StageCanaryRollout): multiCanaryOptions{}, MultiName(StageCanaryClean): multiOnlyOptions{},
		MultiName(StageBaselineRollout): multiBaselineOptions{}, MultiName(StageBaselineClean): multiOnlyOptions{},
		MultiName(StageTrafficRouting): multiTrafficOptions{}, MultiName(StageTest): multiOnlyOptions{},
	}
}
