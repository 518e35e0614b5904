// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// scriptContext is the JSON of SR_CONTEXT_RAW (PipeCD v1).
type scriptContext struct {
	DeploymentID        string            `json:"deploymentID"`
	ApplicationID       string            `json:"applicationID"`
	ApplicationName     string            `json:"applicationName"`
	TriggeredAt         int64             `json:"triggeredAt"`
	TriggeredCommitHash string            `json:"triggeredCommitHash"`
	TriggeredCommander  string            `json:"triggeredCommander"`
	RepositoryURL       string            `json:"repositoryURL"`
	Summary             string            `json:"summary"`
	Labels              map[string]string `json:"labels"`
	IsRollback          bool              `json:"isRollback"`
}

// environment is the plugin's own environment, then the addresses of services, then PipeCD v1's SR_ variables, then the
// stage's env, of which the later ones win.
func environment(d *sdk.Deployment, env map[string]string, addresses []string, rollback bool) ([]string, error) {
	c := scriptContext{
		DeploymentID:        d.ID,
		ApplicationID:       d.Application.ID,
		ApplicationName:     d.Application.Name,
		TriggeredAt:         d.Trigger.At.Unix(),
		TriggeredCommitHash: d.Trigger.Commit.Hash,
		TriggeredCommander:  d.Trigger.Commander,
		RepositoryURL:       d.Application.Remote,
		Summary:             d.Summary,
		Labels:              d.Application.Labels,
		IsRollback:          rollback,
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode SR_CONTEXT_RAW: %w", err)
	}
	environ := append(os.Environ(), addresses...)
	environ = append(environ,
		"SR_DEPLOYMENT_ID="+c.DeploymentID,
		"SR_APPLICATION_ID="+c.ApplicationID,
		"SR_APPLICATION_NAME="+c.ApplicationName,
		"SR_TRIGGERED_AT="+strconv.FormatInt(c.TriggeredAt, 10),
		"SR_TRIGGERED_COMMIT_HASH="+c.TriggeredCommitHash,
		"SR_TRIGGERED_COMMANDER="+c.TriggeredCommander,
		"SR_REPOSITORY_URL="+c.RepositoryURL,
		"SR_SUMMARY="+c.Summary,
		"SR_IS_ROLLBACK="+strconv.FormatBool(rollback),
		"SR_CONTEXT_RAW="+string(raw),
	)
	for key, value := range c.Labels {
		environ = append(environ, "SR_LABELS_"+variableName(key)+"="+value)
	}
	for key, value := range env {
		environ = append(environ, key+"="+value)
	}
	return environ, nil
}

// variableName makes a label's key a name that a shell can read.
func variableName(key string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(key))
}
