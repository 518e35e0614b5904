// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// The types of providers.
const (
	Prometheus  = "PROMETHEUS"
	Datadog     = "DATADOG"
	Stackdriver = "STACKDRIVER"
	CloudWatch  = "CLOUDWATCH"
)

// Config is the plugin's part of the piped configuration.
type Config struct {
	// AnalysisProviders are where metrics and logs are queried.
	AnalysisProviders []Provider `json:"analysisProviders" jsonschema:"uniqueBy=name"`
	// HTTPHeaders are headers with secrets, which requests of stages choose by their names (headersFrom). PipeCD does
	// not read it.
	HTTPHeaders []HTTPHeader `json:"httpHeaders" jsonschema:"uniqueBy=name"`
}

// Provider is one place that answers queries.
type Provider struct {
	// Name is what stages choose the provider by.
	Name string `json:"name" jsonschema:"required"`
	// Type is PROMETHEUS, DATADOG, STACKDRIVER (Google Cloud Monitoring and Logging) or CLOUDWATCH, which PipeCD does
	// not have.
	Type string `json:"type" jsonschema:"required,enum=PROMETHEUS,enum=DATADOG,enum=STACKDRIVER,enum=CLOUDWATCH"`
	// Config is the address and the keys of the provider.
	Config json.RawMessage `json:"config"`
}

// PrometheusConfig is the config of a provider of the type PROMETHEUS: a server that speaks Prometheus' query API.
type PrometheusConfig struct {
	// Address is the URL of the server, such as http://127.0.0.1:9090. It may hold the variable of a Service of the
	// environment.
	Address string `json:"address" jsonschema:"required"`
	// UsernameFile is a file with the user name for basic authentication.
	UsernameFile string `json:"usernameFile"`
	// PasswordFile is a file with the password for basic authentication.
	PasswordFile string `json:"passwordFile"`
	// BearerTokenFile is a file with a token, which is sent in place of a user name and a password. PipeCD does not
	// read it.
	BearerTokenFile string `json:"bearerTokenFile"`
	// TLS is how the server is known, and how the plugin shows who it is. PipeCD does not read it.
	TLS *TLS `json:"tls"`
}

// TLS are settings of a connection.
type TLS struct {
	// CAFile is a file with certificates (PEM) of those who sign the server's. Default: those of the system.
	CAFile string `json:"caFile"`
	// CertFile is a file with the certificate (PEM) that the plugin shows. It needs keyFile.
	CertFile string `json:"certFile"`
	// KeyFile is a file with the key (PEM) of certFile.
	KeyFile string `json:"keyFile"`
	// ServerName is the name that the certificate of the server must have. Default: the host of the address.
	ServerName string `json:"serverName"`
	// InsecureSkipVerify accepts any certificate. Default false.
	InsecureSkipVerify bool `json:"insecureSkipVerify"`
}

// DatadogConfig is the config of a provider of the type DATADOG.
type DatadogConfig struct {
	// Address is the site, such as datadoghq.eu, or the URL of the API. Default datadoghq.com.
	Address string `json:"address"`
	// APIKeyFile is a file with the API key.
	APIKeyFile string `json:"apiKeyFile"`
	// APIKeyData is the API key in base64.
	APIKeyData string `json:"apiKeyData" jsonschema:"writeOnly"`
	// ApplicationKeyFile is a file with the application key.
	ApplicationKeyFile string `json:"applicationKeyFile"`
	// ApplicationKeyData is the application key in base64.
	ApplicationKeyData string `json:"applicationKeyData" jsonschema:"writeOnly"`
}

// Validate refuses providers that stages could not choose or reach.
func (c *Config) Validate() error {
	names := map[string]bool{}
	if err := c.validateHeaders(); err != nil {
		return err
	}
	for i, p := range c.AnalysisProviders {
		switch {
		case p.Name == "":
			return fmt.Errorf("analysisProviders[%d].name is required", i)
		case names[p.Name]:
			return fmt.Errorf("analysisProviders[%d].name: two providers have the name %s", i, p.Name)
		}
		names[p.Name] = true
		if err := p.validate(); err != nil {
			return fmt.Errorf("analysis provider %s: %w", p.Name, err)
		}
	}
	return nil
}

func (p *Provider) validate() error {
	switch p.Type {
	case Prometheus:
		_, err := p.Prometheus()
		return err
	case Datadog:
		_, err := p.Datadog()
		return err
	case Stackdriver:
		_, err := p.Stackdriver()
		return err
	case CloudWatch:
		_, err := p.CloudWatch()
		return err
	}
	return fmt.Errorf("type is %q: want PROMETHEUS, DATADOG, STACKDRIVER or CLOUDWATCH", p.Type)
}

// HasLogs reports whether the provider can be asked for log entries.
func (p *Provider) HasLogs() bool { return p.Type == Stackdriver }

// Find returns the provider of a name; nil when there is none.
func (c *Config) Find(name string) *Provider {
	for i := range c.AnalysisProviders {
		if c.AnalysisProviders[i].Name == name {
			return &c.AnalysisProviders[i]
		}
	}
	return nil
}

// Names are those of all providers, for messages.
func (c *Config) Names() string {
	if len(c.AnalysisProviders) == 0 {
		return "none"
	}
	var all []string
	for _, p := range c.AnalysisProviders {
		all = append(all, p.Name)
	}
	return strings.Join(all, ", ")
}

// Prometheus returns the config of a provider of that type.
func (p *Provider) Prometheus() (PrometheusConfig, error) {
	var c PrometheusConfig
	if err := decode(p.Config, &c); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	switch tls := c.TLS; {
	case c.Address == "":
		return c, errors.New("config.address is required: the URL of the server")
	case (c.UsernameFile == "") != (c.PasswordFile == ""):
		return c, errors.New("config.usernameFile and config.passwordFile need each other")
	case c.BearerTokenFile != "" && c.UsernameFile != "":
		return c, errors.New("config.bearerTokenFile and config.usernameFile exclude each other")
	case tls != nil && (tls.CertFile == "") != (tls.KeyFile == ""):
		return c, errors.New("config.tls.certFile and config.tls.keyFile need each other")
	}
	return c, checkAddress(c.Address)
}

// Datadog returns the config of a provider of that type.
func (p *Provider) Datadog() (DatadogConfig, error) {
	var c DatadogConfig
	if err := decode(p.Config, &c); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	switch {
	case c.APIKeyFile == "" && c.APIKeyData == "":
		return c, errors.New("config.apiKeyFile or config.apiKeyData is required")
	case c.ApplicationKeyFile == "" && c.ApplicationKeyData == "":
		return c, errors.New("config.applicationKeyFile or config.applicationKeyData is required")
	}
	return c, nil
}

func checkAddress(address string) error {
	if HasService(address) {
		return nil // known when it is asked
	}
	at, err := url.Parse(address)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		// The address is left out: it may hold a password.
		return errors.New("config.address is not a URL of http or https, such as http://127.0.0.1:9090")
	}
	return nil
}

func decode(data json.RawMessage, value any) error {
	if len(data) == 0 {
		return nil
	}
	return json.Unmarshal(data, value)
}
