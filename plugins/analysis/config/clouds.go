// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"regexp"
)

// StackdriverConfig is the config of a provider of the type STACKDRIVER: Google Cloud Monitoring for metrics, and
// Google Cloud Logging for logs.
type StackdriverConfig struct {
	// ServiceAccountFile is a file with the key of a service account. Default: Google's default credentials.
	ServiceAccountFile string `json:"serviceAccountFile"`
	// Project is the id of the project with the metrics and logs. Default: that of the credentials. PipeCD does not
	// read it.
	Project string `json:"project"`
}

// CloudWatchConfig is the config of a provider of the type CLOUDWATCH. The keys are those of PipeCD's targets on AWS.
type CloudWatchConfig struct {
	// Region is the region of the metrics, such as eu-west-1.
	Region string `json:"region" jsonschema:"required"`
	// Profile is a profile in the files of AWS's tools. Default: that of the environment.
	Profile string `json:"profile"`
	// CredentialsFile is a file with credentials. Default: AWS's default credentials.
	CredentialsFile string `json:"credentialsFile"`
	// RoleARN is a role that is assumed with the token in tokenFile.
	RoleARN string `json:"roleARN"`
	// TokenFile is a file with a token of the web identity of roleARN.
	TokenFile string `json:"tokenFile"`
}

// projectID is what the id of a project of Google Cloud may be, that of a domain included. It becomes part of a URL.
var projectID = regexp.MustCompile(`^[a-z0-9.:-]+$`)

// Stackdriver returns the config of a provider of that type.
func (p *Provider) Stackdriver() (StackdriverConfig, error) {
	var c StackdriverConfig
	if err := decode(p.Config, &c); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	if c.Project != "" && !projectID.MatchString(c.Project) {
		return c, fmt.Errorf("config.project is %q: want the id of a project, such as shop-prod-1", c.Project)
	}
	return c, nil
}

// CloudWatch returns the config of a provider of that type.
func (p *Provider) CloudWatch() (CloudWatchConfig, error) {
	var c CloudWatchConfig
	if err := decode(p.Config, &c); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	switch {
	case c.Region == "":
		return c, errors.New("config.region is required, such as eu-west-1")
	case (c.RoleARN == "") != (c.TokenFile == ""):
		return c, errors.New("config.roleARN and config.tokenFile need each other")
	}
	return c, nil
}
