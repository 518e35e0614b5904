// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configsource

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Flags of piped that name a source. PipeCD v1's, and v0's for the parameter of Systems Manager.
const (
	FlagFile      = "config-file"
	FlagData      = "config-data"
	FlagGCPSecret = "config-gcp-secret"
	FlagAWSSecret = "config-aws-secret"
	FlagAWSSSM    = "config-aws-ssm-parameter"
)

// Source says where the configuration is: exactly one field is set.
type Source struct {
	// File is a path.
	File string
	// Data is the configuration in base64.
	Data string
	// GCPSecret is the resource name of a secret in Google's Secret Manager, "projects/P/secrets/S", with
	// "/versions/V" for another version than the latest.
	GCPSecret string
	// AWSSecret is the name or ARN of a secret in AWS Secrets Manager, AWSParameter that of a parameter of AWS
	// Systems Manager. Both hold the configuration in base64 (PipeCD) or as it is.
	AWSSecret, AWSParameter string
}

// CloudError says why a cloud did not give the configuration; unlike a mistake in it, that may pass.
type CloudError struct{ error }

func (e *CloudError) Unwrap() error { return e.error }

// loadTimeout bounds everything that a cloud is asked for, tries and credentials included.
const loadTimeout = time.Minute

// Load reads and checks the configuration. A mistake in it comes back as config.Errors.
func (s Source) Load(ctx context.Context) (*config.Piped, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.load(ctx, newCloud())
}

func (s Source) load(ctx context.Context, cloud *cloud) (*config.Piped, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	switch {
	case s.File != "":
		return config.LoadPiped(s.File)
	case s.Data != "":
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s.Data))
		if err != nil {
			return nil, fmt.Errorf("--%s is not base64: %w; make it with: base64 -w0 FILE", FlagData, err)
		}
		return config.ParsePiped(data, "--"+FlagData)
	case s.GCPSecret != "":
		return parsed(FlagGCPSecret, s.GCPSecret, func() ([]byte, error) { return cloud.gcpSecret(ctx, s.GCPSecret) })
	case s.AWSSecret != "":
		return parsed(FlagAWSSecret, s.AWSSecret, func() ([]byte, error) { return cloud.awsSecret(ctx, s.AWSSecret) })
	default:
		return parsed(
			FlagAWSSSM, s.AWSParameter, func() ([]byte, error) { return cloud.awsParameter(ctx, s.AWSParameter) },
		)
	}
}

func parsed(flag, name string, read func() ([]byte, error)) (*config.Piped, error) {
	data, err := read()
	if err != nil {
		return nil, &CloudError{fmt.Errorf("read the configuration of piped (--%s %s): %w", flag, name, err)}
	}
	return config.ParsePiped(data, "--"+flag)
}

func (s Source) check() error {
	var given []string
	for _, source := range []struct{ flag, value string }{
		{FlagFile, s.File}, {FlagData, s.Data}, {FlagGCPSecret, s.GCPSecret}, {FlagAWSSecret, s.AWSSecret},
		{FlagAWSSSM, s.AWSParameter},
	} {
		if source.value != "" {
			given = append(given, "--"+source.flag)
		}
	}
	switch len(given) {
	case 1:
		return nil
	case 0:
		return errors.New(
			"nothing says where the configuration of piped is: give --config-file FILE (or one of --config-data, " +
				"--config-gcp-secret, --config-aws-secret, --config-aws-ssm-parameter)",
		)
	default:
		return fmt.Errorf("%s exclude each other: give one of them", strings.Join(given, " and "))
	}
}

// plain is the configuration in what a secret of AWS holds. Base64 has none of the characters without which
// there is no configuration in YAML or JSON, so the two cannot be mistaken for each other.
func plain(text string) []byte {
	compact := strings.Join(strings.Fields(text), "")
	if data, err := base64.StdEncoding.DecodeString(compact); err == nil {
		return data
	}
	return []byte(text)
}
