// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Application is `spec.plugins.kubernetes` of an application's configuration.
type Application struct {
	// Input says where the manifests come from and how they are applied.
	Input Input `json:"input"`
	// QuickSync are the options of a quick sync.
	QuickSync QuickSyncOptions `json:"quickSync"`
	// Service is the Service whose traffic is routed. Default: the first one.
	Service Reference `json:"service"`
	// Workloads are the workloads that get variants. Default: all Deployments.
	Workloads []Reference `json:"workloads"`
	// VariantLabel is the label that distinguishes the variants.
	VariantLabel VariantLabel `json:"variantLabel"`
	// TrafficRouting says how traffic is split between the variants.
	TrafficRouting TrafficRouting `json:"trafficRouting"`

	// target and folder are set by AtTarget.
	target, folder string
	// left is set by LeftAt.
	left bool
}

// Input says where the manifests come from and how they are applied.
type Input struct {
	// Manifests are files and folders, relative to the application's directory. Default: every manifest directly in it.
	Manifests []string `json:"manifests"`
	// MultiTargets are inputs for single deploy targets. With any, the other targets are not deployed to.
	MultiTargets []MultiTarget `json:"multiTargets" jsonschema:"uniqueBy=target.name"`
	// KubectlVersion is the version of kubectl for PipeCD's plugin. This plugin does not run kubectl.
	KubectlVersion string `json:"kubectlVersion"`
	// KustomizeVersion is the version of kustomize for PipeCD's plugin. This plugin has its own.
	KustomizeVersion string `json:"kustomizeVersion"`
	// KustomizeOptions are long flags of `kustomize build`, without the dashes.
	KustomizeOptions map[string]string `json:"kustomizeOptions"`
	// HelmVersion is the version of helm for PipeCD's plugin. This plugin has its own.
	HelmVersion string `json:"helmVersion"`
	// HelmChart is the chart to render. It goes before a kustomization and manifests.
	HelmChart *HelmChart `json:"helmChart"`
	// HelmOptions are options of `helm template`.
	HelmOptions HelmOptions `json:"helmOptions"`
	// Namespace replaces the namespace of every namespaced manifest.
	Namespace string `json:"namespace" jsonschema:"pattern=^[a-z0-9-]*$,patternErrorMessage=a name such as shop-2"`
	// AutoCreateNamespace creates the namespace when it does not exist. Default false.
	AutoCreateNamespace bool `json:"autoCreateNamespace"`

	// WaitReady false ends a stage as soon as the API has taken the manifests, as PipeCD does. Default true. PipeCD
	// does not read it.
	WaitReady *bool `json:"waitReady" jsonschema:"default=true"`
	// RolloutTimeout bounds the wait for readiness. Default 5m, or more when a manifest's own progress deadline is
	// longer. PipeCD does not read it.
	RolloutTimeout sdk.Duration `json:"rolloutTimeout" jsonschema:"default=5m"`
	// FailureGrace is how long an image that cannot be pulled or a crash loop may last before the stage fails.
	// Default 10s. PipeCD does not read it.
	FailureGrace sdk.Duration `json:"failureGrace" jsonschema:"default=10s"`
}

// Reference names resources by kind and name; an empty part matches anything.
type Reference struct {
	// Kind is the kind of the resource.
	Kind string `json:"kind"`
	// Name is the name of the resource.
	Name string `json:"name"`
}

// VariantLabel is the label that distinguishes primary from canary resources.
type VariantLabel struct {
	// Key is the label. Default pipecd.dev/variant.
	Key string `json:"key" jsonschema:"default=pipecd.dev/variant,pattern=^[\\w./-]*$,patternErrorMessage=a label"`
	// PrimaryValue is the value for primary. Default primary.
	PrimaryValue string `json:"primaryValue" jsonschema:"default=primary"`
	// CanaryValue is the value for canary. Default canary.
	CanaryValue string `json:"canaryValue" jsonschema:"default=canary"`
	// BaselineValue is the value for baseline. Default baseline.
	BaselineValue string `json:"baselineValue" jsonschema:"default=baseline"`
}

// ExtendSchema says that no two variants have the same value.
func (VariantLabel) ExtendSchema(schema map[string]any) {
	schema["different"] = object{
		"primaryValue": DefaultPrimaryValue, "canaryValue": DefaultCanaryValue, "baselineValue": DefaultBaselineValue,
	}
}

// Defaults of VariantLabel, the ones of PipeCD v1.
const (
	DefaultVariantKey    = "pipecd.dev/variant"
	DefaultPrimaryValue  = "primary"
	DefaultCanaryValue   = "canary"
	DefaultBaselineValue = "baseline"
)

const (
	defaultRolloutTimeout = 5 * time.Minute
	defaultFailureGrace   = 10 * time.Second
)

// Validate fills the defaults in and reports every setting that cannot work.
func (a *Application) Validate() error {
	a.fillDefaults()
	var errs []error
	if err := a.Input.HelmChart.validate(); err != nil {
		errs = append(errs, err)
	}
	if err := a.Input.HelmOptions.validate(a.Input.HelmChart); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, validateMultiTargets(a.Input.MultiTargets)...)
	errs = append(errs, a.VariantLabel.validate()...)
	errs = append(errs, a.TrafficRouting.validate()...)
	if a.Input.RolloutTimeout < 0 {
		errs = append(errs, errors.New("input.rolloutTimeout: must not be negative; set waitReady: false to not "+
			"wait at all"))
	}
	if a.Input.FailureGrace < 0 {
		errs = append(errs, errors.New("input.failureGrace: must not be negative"))
	}
	return errors.Join(errs...)
}

func (a *Application) fillDefaults() {
	l := &a.VariantLabel
	l.Key = cmp.Or(l.Key, DefaultVariantKey)
	l.PrimaryValue = cmp.Or(l.PrimaryValue, DefaultPrimaryValue)
	l.CanaryValue = cmp.Or(l.CanaryValue, DefaultCanaryValue)
	l.BaselineValue = cmp.Or(l.BaselineValue, DefaultBaselineValue)
	a.TrafficRouting.Method = cmp.Or(a.TrafficRouting.Method, MethodPodSelector)
	a.Input.HelmOptions.ReleaseHistory = cmp.Or(a.Input.HelmOptions.ReleaseHistory, DefaultReleaseHistory)
	a.Input.RolloutTimeout = cmp.Or(a.Input.RolloutTimeout, sdk.Duration(defaultRolloutTimeout))
	a.Input.FailureGrace = cmp.Or(a.Input.FailureGrace, sdk.Duration(defaultFailureGrace))
}

func (l VariantLabel) validate() (errs []error) {
	fields := map[string]string{}
	for _, v := range []struct{ field, value string }{
		{"primaryValue", l.PrimaryValue}, {"canaryValue", l.CanaryValue}, {"baselineValue", l.BaselineValue},
	} {
		if other, taken := fields[v.value]; taken {
			errs = append(errs, fmt.Errorf("variantLabel.%s: %q is already the %s", v.field, v.value, other))
		}
		fields[v.value] = v.field
	}
	return errs
}

// WaitsReady reports whether a stage waits for its workloads.
func (in *Input) WaitsReady() bool { return in.WaitReady == nil || *in.WaitReady }
