// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"text/template"

	"github.com/pipedeck/pipedeck/system/servicefile"
)

// Variables are what queries may hold.
type Variables struct {
	// App is the application that is deployed.
	App struct{ Name, Env string }
	// Variant has the Name of the variant of a strategy CANARY_*; the others have none.
	Variant map[string]string
	// VariantCustomArgs are canaryArgs, baselineArgs or primaryArgs.
	VariantCustomArgs map[string]string
	// VariantArgs are the same, as PipeCD's comments name them.
	VariantArgs map[string]string
	// AppCustomArgs are those of the application and appArgs of the template, which win.
	AppCustomArgs map[string]string
	// AppArgs are the same, by the name of PipeCD v0.
	AppArgs map[string]string
	// Services are the addresses of services that the environment of piped gives, such as DEFAULT_SHOP_URL. PipeCD does
	// not have them.
	Services map[string]string
	// K8s is PipeCD v0's way to the namespace, which is AppCustomArgs.k8sNamespace now.
	K8s map[string]string
}

// ForApplication returns the variables of an application.
func ForApplication(name string, custom, services map[string]string) Variables {
	v := Variables{AppCustomArgs: custom, Services: services}
	v.App.Name = name
	return v.With(nil)
}

// With returns the variables for an entry with a template; nil for none.
func (v Variables) With(reference *TemplateRef) Variables {
	args := map[string]string{}
	maps.Copy(args, v.AppCustomArgs)
	v.AppCustomArgs = args
	if reference != nil {
		maps.Copy(v.AppCustomArgs, reference.AppArgs)
	}
	v.AppArgs = v.AppCustomArgs
	v.K8s = map[string]string{}
	if namespace, given := v.AppCustomArgs["k8sNamespace"]; given {
		v.K8s["Namespace"] = namespace
	}
	return v
}

// Of returns the variables for a variant, such as canary; without a name it is none.
func (v Variables) Of(variant string, args map[string]string) Variables {
	v.Variant, v.VariantCustomArgs, v.VariantArgs = map[string]string{}, args, args
	if variant != "" {
		v.Variant["Name"] = variant
	}
	return v
}

// Fill replaces the variables in a query or URL. A variable without a value is a mistake: the query would ask for
// something else. The error does not repeat the text, because a URL may hold a password.
func (v Variables) Fill(query string) (string, error) {
	parsed, err := template.New("text").Option("missingkey=error").Parse(query)
	if err != nil {
		return "", fmt.Errorf("its variables cannot be filled in: %w", err)
	}
	var filled strings.Builder
	if err := parsed.Execute(&filled, v); err != nil {
		return "", fmt.Errorf("its variables cannot be filled in: %w", err)
	}
	return filled.String(), nil
}

// Services are the addresses of the environment's Services, by their names without the prefix.
func Services() (map[string]string, error) {
	lines, err := servicefile.Read()
	found := map[string]string{}
	for _, line := range lines {
		name, address, _ := strings.Cut(strings.TrimPrefix(line, servicefile.Prefix), "=")
		found[name] = address
	}
	return found, err
}

// HasService is whether an address is that of a Service, by a variable.
func HasService(address string) bool { return hasVariable(address) }

// FillAddress fills the variables of Services in, as they are now. An error holds nothing of the address, which may
// have a password.
func FillAddress(address string) (string, error) {
	services, err := Services()
	if err != nil {
		return "", err
	}
	filled, err := ForApplication("", nil, services).Fill(address)
	if err != nil {
		return "", fmt.Errorf("config.address: no Service of the environment has this address now; it has those of: %s",
			names(services))
	}
	return filled, checkAddress(filled)
}

// CustomArgs reads spec.plugins.NAME.appCustomArgs of an application configuration.
func CustomArgs(configuration []byte, plugin string) (map[string]string, error) {
	document, err := toJSON(configuration)
	if err != nil {
		return nil, fmt.Errorf("the application configuration is not YAML: %w", err)
	}
	var file struct {
		Spec struct {
			Plugins map[string]json.RawMessage `json:"plugins"`
		} `json:"spec"`
	}
	var options Application
	if err := json.Unmarshal(document, &file); err != nil {
		return nil, fmt.Errorf("the application configuration: %w", err)
	}
	if err := decode(file.Spec.Plugins[plugin], &options); err != nil {
		return nil, fmt.Errorf("spec.plugins.%s of the application configuration: %w", plugin, err)
	}
	return options.AppCustomArgs, nil
}
