// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/analysis/provider"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// ExecuteStage evaluates everything until the duration is over or there are too many failures.
func (p *plugin) ExecuteStage(ctx context.Context, req *sdk.StageRequest[config.Config]) (sdk.Result, error) {
	options, err := sdk.DecodeOptions[config.Options](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	var folder string
	var custom map[string]string
	if req.Target != nil {
		folder = req.Target.SharedConfigDir
		if custom, err = config.CustomArgs(req.Target.ConfigData, p.name); err != nil {
			return sdk.Failure, err
		}
	}
	if err := options.Resolve(folder); err != nil {
		return sdk.Failure, err
	}
	if err := checkProviders(&options, &req.Config); err != nil {
		return sdk.Failure, err
	}
	analyzers, err := p.analyzers(ctx, req, &options, custom)
	if err != nil {
		return sdk.Failure, err
	}
	kept, resumed, err := readState(ctx, req.Client)
	if err != nil {
		return sdk.Failure, err
	}
	r := newRun(p.clock, req, &options, analyzers, kept)
	if resumed {
		req.Log.Infof("Going on with the analysis of %s after %s", options.Duration, kept.elapsed.Round(time.Second))
	} else {
		req.Log.Infof("Analysing for %s: %s", options.Duration, options.Contents())
		warn(req.Log, options.Doubts(), analyzers)
	}
	return r.execute(ctx)
}

// warn logs what is accepted, as PipeCD accepts it, though it hardly does what its author expects.
func warn(log sdk.StageLog, doubts []string, analyzers []*analyzer) {
	for _, a := range analyzers {
		if a.doubt != "" {
			doubts = append(doubts, a.name+": "+a.doubt)
		}
	}
	for _, doubt := range doubts {
		log.Infof("Warning: %s", doubt)
	}
}

// analyzers are one for each metric, log and request.
func (p *plugin) analyzers(ctx context.Context, req *sdk.StageRequest[config.Config], options *config.Options,
	custom map[string]string) ([]*analyzer, error) {
	var previous time.Time
	var err error
	isPrevious := func(m config.StageMetric) bool { return m.Strategy == config.Previous }
	if slices.ContainsFunc(options.Metrics, isPrevious) {
		if previous, err = previousStart(ctx, req.Client, req.Deployment.Application.ID); err != nil {
			return nil, err
		}
	}
	addresses, err := config.Services()
	if err != nil {
		req.Log.Infof("The addresses of services are not known: %v", err)
	}
	variables := config.ForApplication(req.Deployment.Application.Name, custom, addresses)
	var all []*analyzer
	for i := range options.Metrics {
		m, name := &options.Metrics[i], fmt.Sprintf("metrics[%d]", i)
		metrics, found := p.metrics[m.Provider]
		if !found {
			return nil, fmt.Errorf("%s: the provider %s is not there", name, m.Provider)
		}
		a, err := newMetric(name, m, metrics, variables.With(m.Template), previous)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, a)
	}
	for i := range options.Logs {
		l, name := &options.Logs[i], fmt.Sprintf("logs[%d]", i)
		logs, found := p.metrics[l.Provider].(provider.Logs)
		if !found {
			return nil, fmt.Errorf("%s: the provider %s has no logs", name, l.Provider)
		}
		a, err := newLog(name, l, logs, variables.With(l.Template))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, a)
	}
	for i := range options.HTTPS {
		h, name := &options.HTTPS[i], fmt.Sprintf("https[%d]", i)
		a, err := newRequest(name, h, p.web, variables.With(h.Template))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, a)
	}
	return all, nil
}
