ALTER TABLE `webhook_endpoints` ADD `message_at` integer;
