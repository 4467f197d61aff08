ALTER TABLE `participants` ADD `livekit_said_at` text;
