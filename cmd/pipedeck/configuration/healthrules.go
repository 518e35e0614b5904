// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rendering"
)

// checkHealthRules has the program of the kubernetes plugin compile the rules of health in a piped configuration. The
// error is that of an interrupted command.
func checkHealthRules(ctx context.Context, report *config.Report) error {
	if report.Piped == nil {
		return nil
	}
	for i, plugin := range report.Piped.Plugins {
		var options struct {
			Health []json.RawMessage `json:"health"`
		}
		if plugin.Name != "kubernetes" && plugin.Name != "kubernetes_multicluster" ||
			json.Unmarshal(plugin.Config, &options) != nil || len(options.Health) == 0 {
			continue
		}
		mistakes, problem, err := askHealthRules(ctx, options.Health)
		if err != nil {
			return err
		}
		value := report.Value(fmt.Sprintf("spec.plugins[%d].config", i))
		if problem != "" {
			value.Warning([]string{"health"}, true, "the expressions and scripts are not checked: "+problem)
		}
		for _, m := range mistakes {
			path := []string{"health", strconv.Itoa(m.Rule), m.Key}
			if !report.Failed(value.Path(path)) {
				value.Error(path, false, m.Text)
			}
		}
	}
	return nil
}

func askHealthRules(ctx context.Context, rules []json.RawMessage) (mistakes []rendering.Mistake, problem string,
	err error) {
	input, err := json.Marshal(rules)
	if err != nil {
		return nil, "", err
	}
	answer, problem, err := askKubernetes(ctx, rendering.CheckArgument, input)
	if err != nil || problem != "" {
		return nil, problem, err
	}
	if err := json.NewDecoder(answer).Decode(&mistakes); err != nil {
		return nil, "the program of the plugin answers: " + err.Error(), nil
	}
	return mistakes, "", nil
}
