// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
)

// Names of the stages, as they stand in a pipeline (PipeCD v1).
const (
	StageSync            = "K8S_SYNC"
	StagePrimaryRollout  = "K8S_PRIMARY_ROLLOUT"
	StageCanaryRollout   = "K8S_CANARY_ROLLOUT"
	StageCanaryClean     = "K8S_CANARY_CLEAN"
	StageBaselineRollout = "K8S_BASELINE_ROLLOUT"
	StageBaselineClean   = "K8S_BASELINE_CLEAN"
	StageTrafficRouting  = "K8S_TRAFFIC_ROUTING"
	StageRollback        = "K8S_ROLLBACK"
	// StageTest is not in PipeCD.
	StageTest = "K8S_TEST"
	// StageRemove is not PipeCD's.
	StageRemove = "K8S_REMOVE"
)

// ChangesCluster reports whether a stage of a pipeline changes what runs. Tests do not.
func ChangesCluster(stage string) bool {
	switch stage {
	case StageSync, StagePrimaryRollout, StageCanaryRollout, StageCanaryClean, StageBaselineRollout,
		StageBaselineClean, StageTrafficRouting:
		return true
	}
	return false
}

// SyncOptions are the `with` of K8S_SYNC.
type SyncOptions struct {
	// AddVariantLabelToSelector adds the variant label to selectors and pods. Default false.
	AddVariantLabelToSelector bool `json:"addVariantLabelToSelector"`
	// Prune deletes what is no longer in Git. Default false.
	Prune bool `json:"prune"`
}

// QuickSyncOptions are `quickSync`. For a single cluster the MultiOptions do not count.
type QuickSyncOptions struct {
	SyncOptions
	MultiOptions
}

// PrimaryOptions are the `with` of K8S_PRIMARY_ROLLOUT.
type PrimaryOptions struct {
	// Suffix is the end of names. Default primary.
	Suffix Suffix `json:"suffix" jsonschema:"default=primary"`
	// CreateService creates a Service for the variant. Default false.
	CreateService bool `json:"createService"`
	// AddVariantLabelToSelector adds the variant label to selectors and pods. Default false.
	AddVariantLabelToSelector bool `json:"addVariantLabelToSelector"`
	// Prune deletes what is no longer in Git. Default false.
	Prune bool `json:"prune"`
}

// CanaryOptions are the `with` of K8S_CANARY_ROLLOUT.
type CanaryOptions struct {
	// Replicas is a number of pods, or a percentage of primary. Default 1.
	Replicas *Replicas `json:"replicas" jsonschema:"default=1"`
	// Suffix is the end of names. Default canary.
	Suffix Suffix `json:"suffix" jsonschema:"default=canary"`
	// CreateService creates a Service for the variant. Default false.
	CreateService bool `json:"createService"`
	// Patches change the manifests of the variant.
	Patches []Patch `json:"patches"`
}

// BaselineOptions are the `with` of K8S_BASELINE_ROLLOUT.
type BaselineOptions struct {
	// Replicas is a number of pods, or a percentage of primary. Default 1.
	Replicas *Replicas `json:"replicas" jsonschema:"default=1"`
	// Suffix is the end of names. Default baseline.
	Suffix Suffix `json:"suffix" jsonschema:"default=baseline"`
	// CreateService creates a Service for the variant. Default false.
	CreateService bool `json:"createService"`
}

// DecodeSync reads the `with` of K8S_SYNC; in a quick sync (no `with` at all) the application's quickSync counts.
func DecodeSync(with []byte, app *Application) (SyncOptions, error) {
	if len(with) == 0 {
		return app.QuickSync.SyncOptions, nil
	}
	var o SyncOptions
	return o, decodeWith(StageSync, with, &o)
}

// DecodePrimary reads the `with` of K8S_PRIMARY_ROLLOUT.
func DecodePrimary(with []byte) (PrimaryOptions, error) {
	o := PrimaryOptions{}
	if err := decodeWith(StagePrimaryRollout, with, &o); err != nil {
		return o, err
	}
	if o.Suffix == "" {
		o.Suffix = DefaultPrimaryValue
	}
	return o, nil
}

// DecodeCanary reads the `with` of K8S_CANARY_ROLLOUT.
func DecodeCanary(with []byte) (CanaryOptions, error) {
	o := CanaryOptions{}
	if err := decodeWith(StageCanaryRollout, with, &o); err != nil {
		return o, err
	}
	if o.Suffix == "" {
		o.Suffix = DefaultCanaryValue
	}
	for i, p := range o.Patches {
		if err := p.validate(); err != nil {
			return o, fmt.Errorf("%s: with.patches[%d].%w", StageCanaryRollout, i, err)
		}
	}
	return o, nil
}

// DecodeBaseline reads the `with` of K8S_BASELINE_ROLLOUT.
func DecodeBaseline(with []byte) (BaselineOptions, error) {
	o := BaselineOptions{}
	if err := decodeWith(StageBaselineRollout, with, &o); err != nil {
		return o, err
	}
	if o.Suffix == "" {
		o.Suffix = DefaultBaselineValue
	}
	return o, nil
}

func decodeWith(stage string, with []byte, into any) error {
	if len(with) == 0 {
		return nil
	}
	if err := json.Unmarshal(with, into); err != nil {
		return fmt.Errorf("%s: with: %w", stage, err)
	}
	return nil
}
