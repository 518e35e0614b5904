// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/analysis/provider"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const stageAnalysis = "ANALYSIS"

// clock is where the plugin gets the time from.
type clock struct {
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
}

type plugin struct {
	clock clock
	// name is that of the plugin in the piped configuration.
	name string
	// metrics are the providers by name. Those with logs are [provider.Logs], too.
	metrics map[string]provider.Metrics
	web     *provider.Web
}

var (
	_ sdk.StagePlugin[config.Config]       = (*plugin)(nil)
	_ sdk.SourceUser                       = (*plugin)(nil)
	_ sdk.Starter[config.Config, sdk.None] = (*plugin)(nil)
	_ io.Closer                            = (*plugin)(nil)
)

// Stages names the one stage.
func (*plugin) Stages() []string { return []string{stageAnalysis} }

// Sources: templates are in the repository, next to the target.
func (*plugin) Sources(string) sdk.Sources { return sdk.TargetSource }

// Start creates the providers. It connects to none: a provider that does not answer now may do so when it is asked.
func (p *plugin) Start(_ context.Context, env *sdk.Env[config.Config, sdk.None]) error {
	p.name, p.metrics = env.Name, map[string]provider.Metrics{}
	for i := range env.Config.AnalysisProviders {
		configured := &env.Config.AnalysisProviders[i]
		metrics, err := provider.NewMetrics(configured)
		if err != nil {
			return err
		}
		p.metrics[configured.Name] = metrics
	}
	var err error
	p.web, err = provider.NewWeb(&env.Config)
	return err
}

// Close ends the connections of the providers.
func (p *plugin) Close() error {
	for _, metrics := range p.metrics {
		metrics.Close()
	}
	if p.web != nil {
		p.web.Close()
	}
	return nil
}

// BuildPipelineStages refuses what can never be evaluated, before anything is deployed. Entries that stem from
// templates are checked when the stage begins.
func (*plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[config.Config]) ([]sdk.Stage, error) {
	stages := sdk.CopyStages(req.Stages)
	for i, configured := range req.Stages {
		options, err := sdk.DecodeOptions[config.Options](configured.Options)
		if err == nil {
			err = checkProviders(&options, &req.Config)
		}
		if err != nil {
			return nil, fmt.Errorf("stage %d (%s): %w", configured.Index, configured.Name, err)
		}
		stages[i].Operation = sdk.OperationSkip
	}
	return stages, nil
}

// checkProviders refuses entries whose provider does not exist or cannot be asked. Entries that stem from templates may
// have no provider yet.
func checkProviders(options *config.Options, configured *config.Config) error {
	for i, m := range options.Metrics {
		found := configured.Find(m.Provider)
		if m.Provider != "" && found == nil {
			return unknownProvider("metrics", i, m.Provider, configured)
		}
		if found == nil || found.Type != config.CloudWatch || !m.Compares() || m.Interval <= 0 {
			continue
		}
		if n := provider.PeriodsOfCloudWatch(&m.Metric); n < config.MinSamples {
			return fmt.Errorf("metrics[%d]: CloudWatch gives %d samples a side in interval %s, with which no "+
				"difference can be significant: want %d or more. Its default step is at least 1m", i, n, m.Interval,
				config.MinSamples)
		}
	}
	for i, l := range options.Logs {
		if l.Provider == "" {
			continue
		}
		switch found := configured.Find(l.Provider); {
		case found == nil:
			return unknownProvider("logs", i, l.Provider, configured)
		case !found.HasLogs():
			return fmt.Errorf("logs[%d]: the provider %s has the type %s, which has no logs: want %s", i, l.Provider,
				found.Type, config.Stackdriver)
		}
	}
	for i, h := range options.HTTPS {
		for _, name := range h.HeadersFrom {
			if configured.Header(name) == nil {
				return fmt.Errorf("https[%d]: headersFrom has %s, which is not among the httpHeaders of the piped "+
					"configuration: %s", i, name, configured.HeaderNames())
			}
		}
	}
	return nil
}

func unknownProvider(list string, i int, name string, configured *config.Config) error {
	return fmt.Errorf("%s[%d]: the provider %s is not among the analysisProviders of the piped configuration: %s", list,
		i, name, configured.Names())
}
