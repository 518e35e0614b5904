// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "fmt"

// CheckPipeline reports what is certain to fail in a pipeline of the application: wrong options of its stages, and
// shares of traffic that its method of routing does not have. Stages of other plugins are skipped.
func (a *Application) CheckPipeline(stages []PipelineStage) error {
	services, err := ServicesOf(stages)
	if err != nil {
		return err
	}
	for _, s := range stages {
		err := CheckOptions(s.Name, s.With)
		if err == nil && s.Name == StageTrafficRouting {
			err = a.checkTraffic(s.With, services)
		}
		if err != nil {
			return fmt.Errorf("stage %d of the pipeline: %w", s.Index+1, err)
		}
	}
	return nil
}

func (a *Application) checkTraffic(with []byte, services VariantServices) error {
	traffic, err := DecodeTraffic(with)
	if err == nil {
		err = a.TrafficRouting.checkAbility(traffic)
	}
	if err != nil {
		return err
	}
	switch a.TrafficRouting.Method {
	case MethodPodSelector:
		_, err = a.Selected(traffic)
	case MethodGateway, MethodNginx, MethodTraefik:
		err = services.check(traffic)
	}
	return err
}

// Selected is the value of the variant label by which a Service sends the traffic to one variant, as a selector has no
// shares.
func (a *Application) Selected(traffic Traffic) (string, error) {
	switch {
	case traffic.Primary == 100:
		return a.VariantLabel.PrimaryValue, nil
	case traffic.Canary == 100:
		return a.VariantLabel.CanaryValue, nil
	}
	return "", fmt.Errorf("%s: the selector of a Service can send all traffic to the primary or all to the "+
		"canary, not %s: set with.all to primary or canary, or trafficRouting.method: %s or %s",
		StageTrafficRouting, traffic, MethodIstio, MethodGateway)
}

// VariantServices are the suffixes of the Services that a pipeline makes for single variants; empty where it makes
// none.
type VariantServices struct {
	Canary, Baseline string
	// stages are those of the pipeline that roll variants out.
	stages [2]bool
}

// ServicesOf reads them from the stages of a pipeline.
func ServicesOf(stages []PipelineStage) (VariantServices, error) {
	var services VariantServices
	for _, s := range stages {
		switch s.Name {
		case StageCanaryRollout:
			o, err := DecodeCanary(s.With)
			if err != nil {
				return services, fmt.Errorf("stage %d of the pipeline: %w", s.Index+1, err)
			}
			if services.stages[0] = true; o.CreateService {
				services.Canary = string(o.Suffix)
			}
		case StageBaselineRollout:
			o, err := DecodeBaseline(s.With)
			if err != nil {
				return services, fmt.Errorf("stage %d of the pipeline: %w", s.Index+1, err)
			}
			if services.stages[1] = true; o.CreateService {
				services.Baseline = string(o.Suffix)
			}
		}
	}
	return services, nil
}

// Names are the Services of primary, canary and baseline, of which the first is given; empty where there is none.
func (v VariantServices) Names(primary string) [3]string {
	names := [3]string{primary}
	for i, suffix := range []string{v.Canary, v.Baseline} {
		if suffix != "" {
			names[i+1] = primary + "-" + suffix
		}
	}
	return names
}

// check reports whether there is a Service for each variant that gets traffic by a route.
func (v VariantServices) check(traffic Traffic) error {
	receives := traffic.Receives()
	for i, variant := range []struct{ name, suffix, stage string }{
		{"canary", v.Canary, StageCanaryRollout}, {"baseline", v.Baseline, StageBaselineRollout},
	} {
		switch {
		case !receives[i+1] || variant.suffix != "":
		case !v.stages[i]:
			return fmt.Errorf("%s: the pipeline has no %s, so there is no %s to send traffic to: add one before this "+
				"stage, with.createService: true", StageTrafficRouting, variant.stage, variant.name)
		default:
			return fmt.Errorf("%s: a route sends traffic to Services, and the pipeline makes none for the %s: set "+
				"with.createService: true in its %s",
				StageTrafficRouting, variant.name, variant.stage)
		}
	}
	return nil
}
