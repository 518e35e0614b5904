// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"
)

// connect returns the client. The SDK reads files and asks for credentials at the first query: a plugin starts without
// them.
func (c *cloudWatch) connect(ctx context.Context) (*cloudwatch.Client, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.client != nil {
		return c.client, nil
	}
	options := []func(*awsconfig.LoadOptions) error{
		awsconfig.WithRegion(c.config.Region), awsconfig.WithLogger(logging.Nop{}), // what matters is in errors
	}
	if c.config.Profile != "" {
		options = append(options, awsconfig.WithSharedConfigProfile(c.config.Profile))
	}
	if c.config.CredentialsFile != "" {
		options = append(options, awsconfig.WithSharedCredentialsFiles([]string{c.config.CredentialsFile}))
	}
	settings, err := awsconfig.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}
	if c.config.RoleARN != "" {
		settings.Credentials = aws.NewCredentialsCache(stscreds.NewWebIdentityRoleProvider(
			sts.NewFromConfig(settings), c.config.RoleARN, stscreds.IdentityTokenFile(c.config.TokenFile)))
	}
	c.client = cloudwatch.NewFromConfig(settings)
	return c.client, nil
}
