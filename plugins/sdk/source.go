// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml"

	"github.com/pipedeck/pipedeck/api/plugin/common"
)

// decodeSource turns piped's description of a source into a Source; nil stays nil. name is the plugin's, how is used
// for its part of the configuration.
func decodeSource[App any](source *common.DeploymentSource, name string, how decoding) (*Source[App], error) {
	if source == nil {
		return nil, nil
	}
	decoded := &Source[App]{
		Dir:             source.GetApplicationDirectory(),
		CommitHash:      source.GetCommitHash(),
		ConfigFilename:  source.GetApplicationConfigFilename(),
		ConfigData:      source.GetApplicationConfig(),
		SharedConfigDir: source.GetSharedConfigDirectory(),
	}
	if _, none := any(&decoded.App).(*None); none {
		return decoded, nil
	}
	part, err := pluginPart(source.GetApplicationConfig(), name)
	if err != nil {
		return nil, fmt.Errorf("read %s at commit %s: %w", decoded.ConfigFilename, decoded.CommitHash, err)
	}
	how.document, how.under = decoded.ConfigData, []string{"spec", "plugins", name}
	if err := how.into(part, &decoded.App); err != nil {
		return nil, fmt.Errorf("%s at commit %s: spec.plugins.%s is not valid: %w", decoded.ConfigFilename,
			decoded.CommitHash, name, err)
	}
	return decoded, nil
}

// pluginPart returns the JSON of spec.plugins.<name>; nil when there is none.
func pluginPart(config []byte, name string) (json.RawMessage, error) {
	var document struct {
		Spec struct {
			Plugins map[string]any `yaml:"plugins"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal(config, &document); err != nil {
		return nil, err
	}
	part, ok := document.Spec.Plugins[name]
	if !ok || part == nil {
		return nil, nil
	}
	return json.Marshal(part)
}
