// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// checkRouting warns of shares of traffic that the selector of a Service, which is the kubernetes plugins' default method of
// routing, does not have.
func checkRouting(d *decoder, a *Application) {
	if a.Pipeline == nil {
		return
	}
	for i, stage := range a.Pipeline.Stages {
		plugin := "kubernetes"
		switch stage.Name {
		case "K8S_TRAFFIC_ROUTING":
		case "K8S_MULTI_TRAFFIC_ROUTING":
			plugin = "kubernetes_multicluster"
		default:
			continue
		}
		var app struct {
			TrafficRouting struct {
				Method string `json:"method"`
			} `json:"trafficRouting"`
		}
		var with map[string]any
		if json.Unmarshal(a.Plugins[plugin], &app) != nil && len(a.Plugins[plugin]) > 0 || json.Unmarshal(stage.With, &with) != nil {
			continue // which is told elsewhere
		}
		if method := app.TrafficRouting.Method; method != "" && method != "podselector" {
			continue
		}
		canary, baseline := share(with["canary"]), share(with["baseline"])
		if baseline != "0" || canary != "0" && canary != "100" || with["all"] == "baseline" {
			at := fmt.Sprintf("spec.pipeline.stages[%d].with", i)
			d.warnf(d.place(at), at, "the selector of a Service can send all traffic to the primary or all to the canary, and no shares; "+
				"set all to primary or canary, or plugins.%s.trafficRouting.method to istio or gateway", plugin)
		}
	}
}

// share is a percentage without its sign; "0" when it is not given.
func share(value any) string {
	if value == nil {
		return "0"
	}
	return strings.TrimSuffix(strings.TrimSpace(fmt.Sprint(value)), "%")
}
